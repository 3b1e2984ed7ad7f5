// A plot as large as the window: with axes, with the values under the pointer, and as a file.

import { type Chart, csvOf, Frame, svgOf, valueAt } from "./chart";
import { timeText } from "./clock";
import { button, element, FONT } from "./dom";

/** PNG files have so many pixels for each of the style sheet. */
const PNG_SCALE = 2;
/** A key of the arrows moves the time by this part of the axis. */
const KEY_STEP = 1 / 100;

/** Opens the dialog. @param seek Goes to a time in ns. */
export function enlarge(chart: Chart, at: number, seek: (t: number) => void): void {
  const dialog = element("dialog", { class: "large", "aria-label": chart.title });
  const large = new Large(dialog, chart, at, seek);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  // The keys of the replay are not those of the dialog.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.showModal();
  // At once: a file that is saved is as large as the dialog.
  large.draw();
}

class Large {
  private readonly picture = element("div", { class: "chart", role: "slider", tabindex: "0", "aria-label": "Time" });
  private readonly values = element("p", { class: "values", role: "status", tabindex: "0" });
  private readonly cursor = element("div", { class: "playhead", "aria-hidden": "true" });
  private frame: Frame;

  constructor(
    dialog: HTMLDialogElement,
    private readonly chart: Chart,
    private at: number,
    seek: (t: number) => void,
  ) {
    const file = fileName(chart.title);
    const saving = (label: string, action: () => void): HTMLElement => button(label, action, { "aria-label": `Save as ${label}` });
    const actions = element(
      "div",
      { class: "actions" },
      saving("PNG", () => void this.png(file)),
      saving("SVG", () => save(`${file}.svg`, new Blob([this.svg()], { type: "image/svg+xml" }))),
      saving("CSV", () => save(`${file}.csv`, new Blob([csvOf(chart)], { type: "text/csv" }))),
      button("Go to this time", () => {
        dialog.close();
        seek(Math.round(this.at));
      }),
      button("Close", () => dialog.close(), { class: "primary" }),
    );
    dialog.append(this.picture, this.values, actions);
    this.frame = new Frame(chart, 640, 360);
    const resized = new ResizeObserver(() => this.draw());
    resized.observe(this.picture);
    dialog.addEventListener("close", () => resized.disconnect());
    this.listen();
  }

  private listen(): void {
    const point = (event: PointerEvent): void => {
      this.at = this.frame.time(event.clientX - this.picture.getBoundingClientRect().left);
      this.show();
    };
    this.picture.addEventListener("pointermove", point);
    this.picture.addEventListener("pointerdown", point);
    this.picture.addEventListener("keydown", (event) => {
      const { from, to } = this.chart;
      const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.at = Math.min(to, Math.max(from, this.at + step * KEY_STEP * (to - from)));
      this.show();
    });
  }

  draw(): void {
    const { width, height } = this.picture.getBoundingClientRect();
    this.frame = new Frame(this.chart, Math.max(240, Math.round(width)), Math.max(180, Math.round(height)));
    const parsed = new DOMParser().parseFromString(this.svg(), "image/svg+xml").documentElement;
    parsed.setAttribute("aria-hidden", "true");
    this.picture.replaceChildren(document.importNode(parsed, true), this.cursor);
    this.show();
  }

  private show(): void {
    const { chart, frame, picture } = this;
    this.at = Math.min(chart.to, Math.max(chart.from, this.at));
    this.cursor.style.transform = `translateX(${frame.x(this.at).toFixed(1)}px)`;
    const values = chart.curves.map((each) => {
      const value = valueAt(each, this.at);
      return `${[each.run, each.name].filter(Boolean).join(": ")} ${value === undefined ? "–" : Number(value.toPrecision(5))}`;
    });
    this.values.textContent = `${timeText(this.at, 3)} · ${chart.quantity}: ${values.join(" · ")}`;
    picture.setAttribute("aria-valuemin", String(chart.from / 1e9));
    picture.setAttribute("aria-valuemax", String(chart.to / 1e9));
    picture.setAttribute("aria-valuenow", String(this.at / 1e9));
    picture.setAttribute("aria-valuetext", this.values.textContent);
  }

  private svg(): string {
    const style = getComputedStyle(document.documentElement);
    return svgOf(this.frame, (name) => style.getPropertyValue(`--${name}`).trim(), FONT);
  }

  private async png(file: string): Promise<void> {
    const { width, height } = this.frame;
    const image = new Image(width, height);
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svg())}`;
    await image.decode();
    const canvas = element("canvas", { width: String(width * PNG_SCALE), height: String(height * PNG_SCALE) });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    savePng(canvas, file);
  }
}

/** A title as the name of a file. */
function fileName(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "plot";
}

/** Saves a picture. */
export function savePng(canvas: HTMLCanvasElement, file: string): void {
  canvas.toBlob((made) => {
    if (made !== null) save(`${file}.png`, made);
  });
}

export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
