// Elements, made and found.

type Child = Node | string;

/** Makes an element with attributes and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function button(label: string, action: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", action);
  return made;
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** Gives a canvas the size at which it is shown; its context is scaled to pixels of the style sheet. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser has no Canvas 2D");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';

/**
 * Puts other children into an element. Who had one of its buttons under the keyboard's focus keeps a place there: the
 * button of the current row, or the one that stands where the old one stood.
 */
export function replaceKeepingFocus(parent: HTMLElement, ...children: Node[]): void {
  const buttons = (): HTMLElement[] => [...parent.querySelectorAll("button")];
  const place = buttons().indexOf(document.activeElement as HTMLElement);
  parent.replaceChildren(...children);
  if (place < 0) return;
  const current = parent.querySelector<HTMLElement>("[aria-current] button");
  (current ?? buttons().at(Math.min(place, buttons().length - 1)))?.focus({ preventScroll: true });
}
