// Nodes that are dragged somewhere else, in a mode of its own: otherwise dragging moves the picture.

import type { Displacement } from "./requests";
import type { Stage } from "./stage";

/** Displacements are whole multiples of a tenth of a metre. */
const STEPS_PER_M = 10;
const SVG = "http://www.w3.org/2000/svg";

interface Drag {
  stage: Stage;
  node: number;
  /** From the pointer to the node's middle, in pixels. */
  offset: [number, number];
  from: [number, number];
  to: Displacement;
  overlay: SVGSVGElement;
}

export class Mover {
  private drag: Drag | undefined;
  private isActive = false;

  /**
   * @param stages What is shown.
   * @param displaced How far a node of a stage is already from where the scenario has it.
   * @param done Is told a node and how far it is to be from there.
   */
  constructor(
    private readonly stages: () => readonly Stage[],
    private readonly displaced: (stage: Stage, node: number) => Displacement,
    private readonly began: () => void,
    private readonly done: (node: number, displacement: Displacement) => void,
  ) {
    // Before the stages themselves see it.
    const on = (name: string, listener: (event: PointerEvent) => void): void =>
      document.addEventListener(name, listener as EventListener, { capture: true });
    on("pointerdown", (event) => this.start(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.end(event, true));
    on("pointercancel", (event) => this.end(event, false));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.drag === undefined) return;
      event.stopPropagation();
      this.forget();
    }, { capture: true });
  }

  get isOn(): boolean {
    return this.isActive;
  }

  set isOn(value: boolean) {
    this.isActive = value;
    document.body.classList.toggle("moving", value);
    if (!value) this.forget();
  }

  private start(event: PointerEvent): void {
    if (!this.isActive || event.button !== 0 || !(event.target instanceof Element)) return;
    const target = event.target;
    const stage = this.stages().find((each) => each.root.contains(target));
    if (stage === undefined) return;
    const box = stage.root.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const node = stage.nodeAt(x, y);
    if (node < 0) return;
    event.stopPropagation();
    event.preventDefault();
    this.began();
    const { movement } = stage.run;
    const from = stage.camera.toScreen(movement.x[node], movement.y[node]);
    const overlay = document.createElementNS(SVG, "svg");
    overlay.setAttribute("class", "drag");
    overlay.setAttribute("aria-hidden", "true");
    stage.root.append(overlay);
    this.drag = { stage, node, offset: [from[0] - x, from[1] - y], from, to: [0, 0], overlay };
    this.move(event);
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (drag === undefined) return;
    event.stopPropagation();
    const { stage, node, offset, from, overlay } = drag;
    const box = stage.root.getBoundingClientRect();
    const at: [number, number] = [event.clientX - box.left + offset[0], event.clientY - box.top + offset[1]];
    const [x, y] = stage.camera.toField(...at);
    const { movement } = stage.run;
    const [east, north] = this.displaced(stage, node);
    const rounded = (m: number): number => Math.round(m * STEPS_PER_M) / STEPS_PER_M;
    drag.to = [rounded(x - movement.x[node] + east), rounded(y - movement.y[node] + north)];
    const range = stage.run.range * stage.camera.scale;
    overlay.innerHTML =
      `<circle class="reach" cx="${at[0]}" cy="${at[1]}" r="${range}"/>` +
      `<line x1="${from[0]}" y1="${from[1]}" x2="${at[0]}" y2="${at[1]}"/><circle cx="${at[0]}" cy="${at[1]}" r="6"/>`;
  }

  private end(event: PointerEvent, isDone: boolean): void {
    const { drag } = this;
    if (drag === undefined) return;
    event.stopPropagation();
    this.forget();
    if (isDone) this.done(drag.node, drag.to);
  }

  private forget(): void {
    this.drag?.overlay.remove();
    this.drag = undefined;
  }
}
