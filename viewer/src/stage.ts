// The picture of one run: ground, network, labels, and what the pointer does there.

import { Camera } from "./camera";
import { Filtered } from "./filters";
import { element, fit, FONT } from "./dom";
import { GlRenderer } from "./gl";
import { BROADCAST, type EventRef, HOPS, NONE, type Run, SENT } from "./model";
import { PlainRenderer } from "./plain";
import type { Renderer } from "./renderer";
import { type Look, Scene } from "./scene";
import type { State } from "./state";
import { RUN_COLORS, type Theme } from "./theme";
import { reasonLabel } from "./words";

/** Nodes of which so many are in sight get their numbers. */
const MOST_LABELS = 130;
/** The most letters of a name beside its node; hovering shows all of them. */
const LONGEST_NAME = 18;
/** The most drops whose reasons are written beside them. */
const MOST_REASONS = 4;
/** Space around the field's nodes within the ground, in m, as a part of its longer side. */
const BORDER = 0.02;

export class Stage {
  readonly root: HTMLElement;
  readonly camera: Camera;
  readonly filtered: Filtered;
  readonly scene = new Scene();
  renderer: Renderer;
  private picture: HTMLCanvasElement;
  private readonly ground = element("canvas", { class: "ground", "aria-hidden": "true" });
  private readonly labels: HTMLCanvasElement;
  private readonly count = element("span", { class: "count", "aria-hidden": "true" });
  private readonly tip = element("div", { class: "tip", hidden: "" });
  private grounded = "";
  private journey: { uid: number; version: number; events: EventRef[] } | undefined;

  constructor(
    readonly run: Run,
    readonly number: number,
    private readonly state: State,
    private readonly isPlain: boolean,
    isNamed: boolean,
  ) {
    const [left, bottom, right, top] = run.recording.head.bounds_m ?? run.movement.bounds();
    const border = BORDER * Math.max(right - left, top - bottom, 1);
    this.camera = new Camera([left - border, bottom - border, right + border, top + border]);
    this.filtered = new Filtered(run);
    this.picture = element("canvas", { class: "picture", "aria-hidden": "true" });
    this.labels = element("canvas", {
      class: "labels",
      role: "img",
      tabindex: "0",
      "aria-label": `The network of ${run.note.name}: ${run.nodes} nodes. The list of events says what happens.`,
    });
    const name = element("span", { class: "name", style: `--run: var(--${RUN_COLORS[number]})` }, run.note.name);
    this.root = element("div", { class: "stage" }, this.ground, this.picture, this.labels, this.count, this.tip);
    if (isNamed) this.root.append(name);
    this.renderer = this.made();
    this.listen();
  }

  private made(): Renderer {
    const found = this.isPlain ? undefined : GlRenderer.on(this.picture);
    if (found !== undefined) return found;
    // A canvas that once had WebGL never draws in another way.
    const fresh = element("canvas", { class: "picture", "aria-hidden": "true" });
    this.picture.replaceWith(fresh);
    this.picture = fresh;
    return new PlainRenderer(fresh);
  }

  /** Draws the run at the clock's time. */
  draw(theme: Theme): void {
    const { width, height } = this.root.getBoundingClientRect();
    const { camera, state } = this;
    camera.width = Math.max(1, width);
    camera.height = Math.max(1, height);
    this.filtered.apply(state.filter, state.filterVersion);
    this.scene.build(this.run, this.filtered, this.look(theme));
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
    if (this.picture.width !== w) this.picture.width = w;
    if (this.picture.height !== h) this.picture.height = h;
    if (this.renderer.isLost) this.renderer = this.made();
    this.renderer.draw(this.scene, camera);
    this.drawGround(theme);
    this.drawLabels(theme);
    this.showCount();
    this.showTip();
  }

  /**
   * The picture, with the run's name if there are several. It must just have been drawn: WebGL keeps a picture only
   * until the browser has shown it.
   */
  copy(theme: Theme, name: string): HTMLCanvasElement {
    const { width, height } = this.picture;
    const made = element("canvas", { width: String(width), height: String(height) });
    const context = made.getContext("2d");
    if (context === null) return made;
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, width, height);
    for (const each of [this.ground, this.picture, this.labels]) context.drawImage(each, 0, 0, width, height);
    const ratio = window.devicePixelRatio || 1;
    context.font = `${13 * ratio}px ${FONT}`;
    context.fillStyle = theme.text;
    context.fillText(name, 12 * ratio, 20 * ratio);
    return made;
  }

  private look(theme: Theme): Look {
    const { state, run } = this;
    const { kinds } = state.filter;
    return {
      t: state.clock.t,
      speed: state.clock.speed,
      isExact: state.isExact,
      scale: 1 / this.camera.scale,
      theme,
      nodeSize: this.nodeSize,
      hovered: state.hovered,
      selected: state.selected,
      destination: state.destination,
      packet: state.packet?.run === this.number ? state.packet.uid : NONE,
      path: this.path(),
      ends: this.ends(),
      shows: { drops: kinds.drops, routes: state.destination >= 0, queues: run.nodes <= 2000, links: state.showsLinks && run.nodes <= 2000 },
    };
  }

  get nodeSize(): number {
    const { nodes } = this.run;
    return nodes <= 60 ? 9 : nodes <= 250 ? 7 : nodes <= 2000 ? 5 : 3;
  }

  private ends(): Map<number, "source" | "destination"> {
    const found = new Map<number, "source" | "destination">();
    const { flows } = this.state.filter;
    for (const { id, src, dst } of this.run.flows) {
      if (flows !== null && !flows.has(id)) continue;
      if (flows === null && this.state.flow !== NONE && this.run.flows.length > 12 && id !== this.state.flow) continue;
      found.set(dst, "destination");
      if (!found.has(src)) found.set(src, "source");
    }
    return found;
  }

  /** Everything that happened to the chosen packet, if it is one of this run. */
  chosen(): EventRef[] {
    const { packet } = this.state;
    if (packet === undefined || packet.run !== this.number) return [];
    if (this.journey?.uid !== packet.uid || this.journey.version !== this.run.version) {
      this.journey = { uid: packet.uid, version: this.run.version, events: this.run.journey(packet.uid) };
    }
    return this.journey.events;
  }

  /** The hops of the chosen packet up to now. */
  private path(): [number, number][] {
    const found: [number, number][] = [];
    const { step, next, node } = this.run.hops.columns;
    for (const event of this.chosen()) {
      if (this.run.timeOf(event) > this.state.clock.t) break;
      if (event.table === HOPS && step[event.row] === SENT && next[event.row] !== BROADCAST) {
        found.push([node[event.row], next[event.row]]);
      }
    }
    return found;
  }

  private drawGround(theme: Theme): void {
    const { camera } = this;
    const key = [...camera.clip, camera.width, camera.height, theme.ground, window.devicePixelRatio].join();
    if (key === this.grounded) return;
    this.grounded = key;
    const context = fit(this.ground, camera.width, camera.height);
    const [left, bottom, right, top] = camera.box;
    const [x0, y0] = camera.toScreen(left, top);
    const [x1, y1] = camera.toScreen(right, bottom);
    context.fillStyle = theme.field;
    context.fillRect(x0, y0, x1 - x0, y1 - y0);
    const step = niceStep(90 / camera.scale);
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const at = Math.round(camera.toScreen(x, 0)[0]) + 0.5;
      context.moveTo(at, Math.max(0, y0));
      context.lineTo(at, Math.min(camera.height, y1));
    }
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
      const at = Math.round(camera.toScreen(0, y)[1]) + 0.5;
      context.moveTo(Math.max(0, x0), at);
      context.lineTo(Math.min(camera.width, x1), at);
    }
    context.stroke();
    context.strokeStyle = theme.line;
    context.strokeRect(Math.round(x0) + 0.5, Math.round(y0) + 0.5, Math.round(x1 - x0), Math.round(y1 - y0));
    this.drawScale(context, step, theme);
  }

  /** A bar of a round length in m. */
  private drawScale(context: CanvasRenderingContext2D, step: number, theme: Theme): void {
    const length = step * this.camera.scale;
    const [x, y] = [14.5, this.camera.height - 13.5];
    context.strokeStyle = theme.muted;
    context.beginPath();
    context.moveTo(x, y - 4);
    context.lineTo(x, y);
    context.lineTo(x + length, y);
    context.lineTo(x + length, y - 4);
    context.stroke();
    context.fillStyle = theme.muted;
    context.font = `11px ${FONT}`;
    context.fillText(step >= 1000 ? `${step / 1000} km` : `${Number(step.toPrecision(3))} m`, x + length + 6, y + 1);
  }

  private drawLabels(theme: Theme): void {
    const { camera, run, state } = this;
    const context = fit(this.labels, camera.width, camera.height);
    context.font = `11px ${FONT}`;
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = theme.field;
    const inSight: number[] = [];
    for (let node = 0; node < run.nodes && inSight.length <= MOST_LABELS; node++) {
      const [x, y] = camera.toScreen(run.movement.x[node], run.movement.y[node]);
      if (x > -20 && y > -20 && x < camera.width + 20 && y < camera.height + 20) inSight.push(node);
    }
    const always = [state.selected, state.hovered, state.destination, ...this.ends().keys()];
    const named = inSight.length <= MOST_LABELS ? inSight : always.filter((each) => each >= 0);
    const taken: [number, number, number][] = [];
    // Those that matter first: a label that would lie upon another is left out.
    const order = [...always.filter((each) => named.includes(each)), ...named];
    for (const node of new Set(order)) {
      const [x, y] = camera.toScreen(run.movement.x[node], run.movement.y[node]);
      const isEnd = always.includes(node);
      if (!isEnd && !run.movement.isPresent(node, state.clock.t)) continue;
      const name = shortened(run.nodeName(node));
      const width = run.recording.head.labels === undefined ? 17 : Math.max(17, context.measureText(name).width + 6);
      const isFree = taken.every(([tx, ty, tw]) => (x > tx ? x - tx > tw : tx - x > width) || Math.abs(ty - y) > 11);
      if (!isFree) continue;
      taken.push([x, y, width]);
      const dx = this.nodeSize / 2 + (isEnd ? 6 : 3);
      this.label(context, node, name, isEnd ? theme.text : theme.muted, dx, isEnd ? -5 : -3);
    }
    const recent = this.scene.dropMarks.filter((each) => each.strength > 0.55);
    const { reason } = run.hops.columns;
    const told: [number, number][] = [];
    for (const { node, row } of recent) {
      if (told.length === MOST_REASONS) break;
      const [x, y] = camera.toScreen(run.movement.x[node], run.movement.y[node]);
      if (told.some(([tx, ty]) => Math.abs(tx - x) < 100 && Math.abs(ty - y) < 13)) continue;
      told.push([x, y]);
      this.label(context, node, reasonLabel(run.words[reason[row]]), theme.drop, this.nodeSize / 2 + 6, 13);
    }
  }

  private label(context: CanvasRenderingContext2D, node: number, text: string, color: string, dx: number, dy: number): void {
    const { camera } = this;
    const [x, y] = camera.toScreen(this.run.movement.x[node], this.run.movement.y[node]);
    context.fillStyle = color;
    // At the right edge a label is to the left of its node, so that none is cut.
    const width = context.measureText(text).width;
    const left = x + dx + width > camera.width - 3 && x - dx - width > 3 ? x - dx - width : x + dx;
    const base = Math.min(camera.height - 4, Math.max(11, y + dy));
    context.strokeText(text, left, base);
    context.fillText(text, left, base);
  }

  private showCount(): void {
    const { run, scene, state } = this;
    const parts: string[] = [];
    if (!run.isComplete) parts.push(`reading ${Math.round((100 * run.blocksRead) / Math.max(1, run.recording.blocks))} %`);
    if (!run.hasRead(state.clock.t)) parts.push("not read yet");
    if (scene.framesLeftOut > 0) parts.push(`${scene.framesLeftOut} older frames not drawn`);
    const text = parts.join(" · ");
    if (this.count.textContent !== text) this.count.textContent = text;
  }

  private showTip(): void {
    const { state, run, tip, camera } = this;
    const node = state.hovered;
    tip.hidden = node < 0;
    if (node < 0) return;
    const [x, y] = camera.toScreen(run.movement.x[node], run.movement.y[node]);
    const queue = run.queueAt(node, state.clock.t);
    const sending = run.onAir(state.clock.t).some((row) => run.frames.columns.node[row] === node);
    const height = run.movement.height(node, state.clock.t);
    const high = height === undefined ? "" : `, ${height.toFixed(0)} m high`;
    const lines = [`at ${run.movement.x[node].toFixed(0)}, ${run.movement.y[node].toFixed(0)} m${high}`, `queue ${queue}`];
    if (!run.movement.isPresent(node, state.clock.t)) lines.push("not there");
    if (sending) lines.push("transmitting");
    tip.replaceChildren(element("b", {}, `Node ${run.nodeName(node)}`), ` ${lines.join(" · ")}`);
    const [w, h] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(4, Math.min(camera.width - w - 4, x + 14))}px`;
    tip.style.top = `${Math.max(4, Math.min(camera.height - h - 4, y - h - 10))}px`;
  }

  /** The node that is nearest to a point of the screen, within reach of a finger. */
  nodeAt(sx: number, sy: number): number {
    const { run, camera } = this;
    let [best, distance] = [NONE, 14];
    for (let node = 0; node < run.nodes; node++) {
      const [x, y] = camera.toScreen(run.movement.x[node], run.movement.y[node]);
      const d = Math.hypot(x - sx, y - sy);
      if (d < distance) [best, distance] = [node, d];
    }
    return best;
  }

  private listen(): void {
    const { labels, state, camera } = this;
    let drag: { x: number; y: number; moved: boolean } | undefined;
    const at = (event: MouseEvent): [number, number] => [event.offsetX, event.offsetY];
    labels.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, moved: false };
      labels.setPointerCapture(event.pointerId);
    });
    labels.addEventListener("pointermove", (event) => {
      if (drag === undefined) {
        const node = this.nodeAt(...at(event));
        if (node !== state.hovered) {
          state.hovered = node;
          state.changed();
        }
        return;
      }
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      camera.move(dx, dy);
      drag = { x: event.clientX, y: event.clientY, moved: true };
      state.changed();
    });
    labels.addEventListener("pointerup", (event) => {
      const wasClick = drag?.moved === false;
      drag = undefined;
      if (!wasClick) return;
      const node = this.nodeAt(...at(event));
      state.selected = node === state.selected ? NONE : node;
      state.changed();
    });
    labels.addEventListener("pointerleave", () => {
      state.hovered = NONE;
      state.changed();
    });
    labels.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        camera.zoomAt(Math.exp(-event.deltaY * 0.0015), ...at(event));
        state.changed();
      },
      { passive: false },
    );
    labels.addEventListener("dblclick", () => {
      camera.reset();
      state.changed();
    });
  }
}

/** A name as far as there is room for it beside a node. */
export function shortened(name: string): string {
  const letters = [...name];
  return letters.length <= LONGEST_NAME ? name : `${letters.slice(0, LONGEST_NAME - 1).join("")}…`;
}

/** 1, 2 or 5 times a power of ten, at or above a length. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}

