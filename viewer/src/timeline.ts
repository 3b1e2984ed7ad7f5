// The strips below the picture: what happens when, and curves of one flow and one node; all on one axis of time.

import type { Chart, Curve } from "./chart";
import { button, element, fit, FONT } from "./dom";
import { enlarge } from "./enlarge";
import type { Filtered } from "./filters";
import { ACKNOWLEDGEMENTS, DELIVERED, MADE, type Run } from "./model";
import type { State } from "./state";
import { RUN_COLORS, type Theme } from "./theme";
import { linkTime, timeText } from "./clock";
import { niceStep } from "./stage";

const AXIS = 16;
/** Room at the ends of the axis, so that marks at both ends can be seen. */
const EDGE = 6;
/** Room for the button that enlarges a plot. */
const BUTTON = 26;

/** What is drawn behind the playhead, kept until it changes. */
abstract class Strip {
  private readonly back = element("canvas", { "aria-hidden": "true" });
  /** The current time: an element that moves, so that nothing is painted again. */
  private readonly head = element("div", { class: "playhead", "aria-hidden": "true" });
  private drawn = "";

  constructor(
    readonly root: HTMLElement,
    protected readonly runs: Run[],
    protected readonly filtered: Filtered[],
    protected readonly state: State,
  ) {
    root.append(this.back, this.head);
    this.listen();
  }

  /** What the drawing depends on, beside the size, the theme and the part of time that is shown. */
  protected abstract key(): string;
  protected abstract paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void;
  protected update(): void {}

  draw(theme: Theme): void {
    const { width, height } = this.root.getBoundingClientRect();
    if (width === 0) return;
    const { from, to, filterVersion } = this.state;
    const read = this.runs.map((run) => run.version).join();
    const key = [width, height, theme.ground, from, to, filterVersion, read, window.devicePixelRatio, this.key()].join();
    if (key !== this.drawn) {
      this.drawn = key;
      this.paint(fit(this.back, width, height), width, height, theme);
    }
    const x = this.toX(this.state.clock.t, width);
    this.head.hidden = x < 0 || x > width;
    this.head.style.transform = `translateX(${x.toFixed(2)}px)`;
    this.update();
  }

  protected toX(t: number, width: number): number {
    const { from, to } = this.state;
    return EDGE + ((t - from) / (to - from)) * (width - 2 * EDGE);
  }

  protected toTime(x: number, width: number): number {
    const { from, to } = this.state;
    return from + ((x - EDGE) / (width - 2 * EDGE)) * (to - from);
  }

  private listen(): void {
    const { root, state } = this;
    let isDragging = false;
    const seek = (event: PointerEvent): void => {
      const box = root.getBoundingClientRect();
      state.clock.seek(Math.round(this.toTime(event.clientX - box.left, box.width)));
      state.isExact = false;
      state.changed();
    };
    root.addEventListener("pointerdown", (event) => {
      isDragging = true;
      root.setPointerCapture(event.pointerId);
      seek(event);
    });
    root.addEventListener("pointermove", (event) => {
      if (isDragging) seek(event);
    });
    for (const name of ["pointerup", "pointercancel"]) root.addEventListener(name, () => (isDragging = false));
    root.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = root.getBoundingClientRect();
        state.zoom(Math.exp(event.deltaY * 0.002), this.toTime(event.clientX - box.left, box.width));
      },
      { passive: false },
    );
  }
}

/** How much is sent, by what it carries, and where packets are dropped. */
export class Activity extends Strip {
  protected key(): string {
    return "";
  }

  protected override update(): void {
    const { clock } = this.state;
    this.root.setAttribute("aria-valuemax", linkTime(clock.end));
    this.root.setAttribute("aria-valuenow", linkTime(clock.t));
    this.root.setAttribute("aria-valuetext", timeText(clock.t, 6));
  }

  protected paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const each = (height - AXIS) / this.runs.length;
    this.runs.forEach((run, i) => {
      const top = i * each;
      this.bars(context, run, this.filtered[i], width, top + 8, each - 9, theme);
      this.dropTicks(context, run, this.filtered[i], width, top, theme);
      if (!run.isComplete) {
        // What has not been read.
        const bounded = (t: number): number => Math.min(width - EDGE, Math.max(EDGE, this.toX(t, width)));
        const [first, last] = [bounded(run.readFrom), bounded(run.readUpTo)];
        context.fillStyle = theme.grid;
        context.fillRect(EDGE, top + 8, first - EDGE, each - 9);
        context.fillRect(last, top + 8, width - EDGE - last, each - 9);
      }
      if (this.runs.length > 1) {
        context.fillStyle = theme.runs[i];
        context.fillRect(0, top + 8, 3, each - 9);
      }
    });
    this.axis(context, width, height, theme);
  }

  private bars(
    context: CanvasRenderingContext2D,
    run: Run,
    filtered: Filtered,
    width: number,
    top: number,
    height: number,
    theme: Theme,
  ): void {
    const columns = Math.max(1, Math.floor((width - 2 * EDGE) / 2));
    const counts = new Uint32Array(columns * 4);
    const { t, carries } = run.frames.columns;
    const { from, to } = this.state;
    for (const row of filtered.frames) {
      if (t[row] < from) continue;
      if (t[row] >= to) break;
      counts[4 * Math.floor(((t[row] - from) / (to - from)) * columns) + carries[row]]++;
    }
    let most = 1;
    for (let i = 0; i < columns; i++) {
      const sum = counts[4 * i] + counts[4 * i + 1] + counts[4 * i + 2] + counts[4 * i + 3];
      if (sum > most) most = sum;
    }
    for (let i = 0; i < columns; i++) {
      let y = top + height;
      for (let kind = 0; kind < 4; kind++) {
        const count = counts[4 * i + kind];
        if (count === 0) continue;
        const h = Math.max(0.75, (count / most) * height);
        context.fillStyle = theme.carries[kind];
        context.fillRect(EDGE + 2 * i, y - h, 1.6, h);
        y -= h;
      }
    }
  }

  private dropTicks(
    context: CanvasRenderingContext2D,
    run: Run,
    filtered: Filtered,
    width: number,
    top: number,
    theme: Theme,
  ): void {
    const { t } = run.hops.columns;
    context.fillStyle = theme.drop;
    let last = -1;
    for (const row of filtered.drops) {
      const x = Math.round(this.toX(t[row], width));
      if (x < EDGE || x > width - EDGE || x === last) continue;
      last = x;
      context.fillRect(x - 0.6, top + 1, 1.2, 5);
    }
  }

  private axis(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const { from, to } = this.state;
    const step = niceStep(((to - from) * 90) / width / 1e9) * 1e9;
    context.font = `11px ${FONT}`;
    context.textAlign = "center";
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = this.toX(t, width);
      context.fillStyle = theme.line;
      context.fillRect(x - 0.5, height - AXIS, 1, 4);
      context.fillStyle = theme.muted;
      const text = tickText(t, step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(width - half, Math.max(half, x)), height - 2);
    }
    context.fillStyle = theme.line;
    context.fillRect(EDGE, height - AXIS, width - 2 * EDGE, 1);
  }
}

/** A time on the axis with the digits that its step needs. */
function tickText(t: number, step: number): string {
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
  return `${(t / 1e9).toFixed(digits)} s`;
}

/** A strip with a label and one or more curves. */
export abstract class Plot extends Strip {
  private readonly label = element("div", { class: "label" });
  private said = "";

  constructor(runs: Run[], filtered: Filtered[], state: State) {
    super(element("div", { class: "strip plot" }), runs, filtered, state);
    const larger = button("⤢", () => this.enlarge(), { class: "plain larger", title: "Enlarge" });
    // A press on the button is no place in time.
    larger.addEventListener("pointerdown", (event) => event.stopPropagation());
    this.root.append(this.label, larger);
    this.root.addEventListener("dblclick", () => this.enlarge());
  }

  /** The plot as it is drawn when it is large. */
  protected abstract chart(): Pick<Chart, "title" | "quantity" | "curves" | "fromZero">;

  private enlarge(): void {
    const { from, to, clock } = this.state;
    enlarge({ ...this.chart(), from, to, end: clock.end }, clock.t, (t) => {
      clock.seek(t);
      this.state.isExact = true;
      this.state.changed();
    });
  }

  /** The name and the colour of a run's curve. */
  protected look(run: Run, i: number): Pick<Curve, "run" | "color"> {
    return this.runs.length > 1 ? { run: run.note.name, color: RUN_COLORS[i] } : { run: "", color: "data" };
  }

  /** The label's title and what follows it: texts, each with the name of its colour, if it has one. */
  protected abstract title(): [string, ...[text: string, color: string][]];

  protected override update(): void {
    const [title, ...values] = this.title();
    const text = [title, ...values].join();
    if (text === this.said) return;
    this.said = text;
    this.root.querySelector(".larger")?.setAttribute("aria-label", `Enlarge: ${title}`);
    const parts = values.map(([text, color]) =>
      color === "" ? element("span", {}, text) : element("span", { style: `color: var(--${color})` }, text),
    );
    this.label.replaceChildren(element("b", {}, title), ...parts);
  }

  /** Values of each run, in the run's colour where there are two. */
  protected values(of: (run: Run) => string): [string, string][] {
    return this.runs.map((run, i) => [of(run), this.runs.length > 1 ? RUN_COLORS[i] : ""]);
  }

  /** Draws a curve of steps. */
  protected steps(
    context: CanvasRenderingContext2D,
    times: ArrayLike<number>,
    values: ArrayLike<number>,
    most: number,
    width: number,
    height: number,
  ): void {
    const { from, to } = this.state;
    context.beginPath();
    let isDown = false;
    let lastX = -1;
    for (let i = 0; i < times.length; i++) {
      if (i + 1 < times.length && times[i + 1] < from) continue;
      if (times[i] > to) break;
      const x = Math.max(0, this.toX(times[i], width));
      const y = plotY(values[i], most, height);
      if (!isDown) context.moveTo(x, y);
      else context.lineTo(x, lastX);
      context.lineTo(x, y);
      lastX = y;
      isDown = true;
    }
    if (isDown) context.lineTo(Math.min(width, this.toX(Math.min(to, this.state.clock.end), width)), lastX);
    context.stroke();
  }

  protected scaleText(context: CanvasRenderingContext2D, most: number, width: number, theme: Theme): void {
    context.fillStyle = theme.muted;
    context.font = `10px ${FONT}`;
    context.textAlign = "right";
    context.fillText(String(Number(most.toPrecision(3))), width - BUTTON, 11);
  }
}

/** Where a value is drawn: 0 at the bottom, the most below the label. */
function plotY(value: number, most: number, height: number): number {
  return height - 3 - (Math.min(value, most) / Math.max(most, 1e-9)) * (height - 23);
}

/** The rows of a table of events within a part of time. */
function inTime(rows: Uint32Array, t: Float64Array, from: number, to: number): number[] {
  return Array.from(rows).filter((row) => t[row] >= from && t[row] <= to);
}

/** Numbers of the segments that a flow's source makes, and of those that arrive. */
export class Sequence extends Plot {
  protected key(): string {
    return String(this.state.flow);
  }

  protected title(): [string, ...[string, string][]] {
    const { flow } = this.state;
    const found = this.runs[0].flow(flow);
    const kind = found?.kind === "tcp" ? "Segments" : "Packets";
    const sent: [string, string][] = this.runs.length > 1 ? this.values((run) => run.note.name) : [["sent", "data"]];
    return [`${kind} of flow ${flow}`, ...sent, ["arrived", "route"], ["sent again", "drop"]];
  }

  protected chart(): Pick<Chart, "title" | "quantity" | "curves" | "fromZero"> {
    const { flow } = this.state;
    const curves = this.runs.flatMap((run, i) => {
      const { t, number, kind } = numbersOf(run, flow);
      const look = this.look(run, i);
      const of = (wanted: number, name: string, color: string): Curve => {
        const rows = Array.from(t.keys()).filter((row) => kind[row] === wanted);
        return { ...look, name, color, t: rows.map((row) => t[row]), v: rows.map((row) => number[row]), isPoints: true };
      };
      return [of(SENT_FIRST, "sent", look.color), of(ARRIVED, "arrived", "route"), of(AGAIN, "sent again", "drop")];
    });
    const isTcp = this.runs[0].flow(flow)?.kind === "tcp";
    return { title: this.title()[0], quantity: isTcp ? "segment number" : "packet number", curves, fromZero: false };
  }

  protected paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const { from, to, flow } = this.state;
    const all = this.runs.map((run) => numbersOf(run, flow));
    let [least, most] = [Infinity, 1];
    for (const { t, number } of all) {
      for (let i = 0; i < t.length; i++) {
        if (t[i] < from || t[i] > to) continue;
        least = Math.min(least, number[i]);
        most = Math.max(most, number[i]);
      }
    }
    if (least === Infinity) return;
    const span = Math.max(1, most - least);
    this.runs.forEach((_, i) => {
      const { t, number, kind } = all[i];
      for (let j = 0; j < t.length; j++) {
        if (t[j] < from || t[j] > to) continue;
        const [x, y] = [this.toX(t[j], width), plotY(number[j] - least, span, height)];
        const base = this.runs.length > 1 ? theme.runs[i] : theme.carries[0];
        context.fillStyle = kind[j] === AGAIN ? theme.drop : kind[j] === ARRIVED ? theme.route : base;
        const size = kind[j] === AGAIN ? 3 : 1.6;
        context.fillRect(x - size / 2, y - size / 2, size, size);
      }
    });
    this.scaleText(context, most, width, theme);
  }
}

const SENT_FIRST = 0;
const AGAIN = 1;
const ARRIVED = 2;

interface Numbers {
  t: number[];
  number: number[];
  kind: number[];
}

const numbersKept = new WeakMap<Run, { flow: number; version: number; numbers: Numbers }>();

/** Sequence numbers of a flow: when made for the first time, made again, and delivered. */
export function numbersOf(run: Run, flow: number): Numbers {
  const kept = numbersKept.get(run);
  if (kept?.flow === flow && kept.version === run.version) return kept.numbers;
  const numbers: Numbers = { t: [], number: [], kind: [] };
  const { t, step, packet, number } = run.hops.columns;
  let highest = -1;
  for (let row = 0; row < run.hops.length; row++) {
    if (number[row] < 0 || (step[row] !== MADE && step[row] !== DELIVERED)) continue;
    const shape = run.packets[packet[row]];
    if (shape.flow !== flow || ACKNOWLEDGEMENTS.has(shape.what)) continue;
    const isMade = step[row] === MADE;
    numbers.t.push(t[row]);
    numbers.number.push(number[row]);
    numbers.kind.push(!isMade ? ARRIVED : number[row] <= highest ? AGAIN : SENT_FIRST);
    if (isMade) highest = Math.max(highest, number[row]);
  }
  numbersKept.set(run, { flow, version: run.version, numbers });
  return numbers;
}

/** The congestion window of a TCP sender, and its threshold. */
export class Window extends Plot {
  protected key(): string {
    return String(this.state.flow);
  }

  protected title(): [string, ...[string, string][]] {
    const { flow, clock } = this.state;
    const values = this.values((run) => {
      const row = this.hasFlow(run) ? run.windowsByFlow.at(flow, clock.t) : -1;
      if (row < 0) return "–";
      const { cwnd, rto } = run.windows.columns;
      return `${cwnd[row].toFixed(2)} segments, RTO ${(rto[row] / 1e9).toFixed(2)} s`;
    });
    return [`Congestion window of flow ${flow}`, ...values];
  }

  protected chart(): Pick<Chart, "title" | "quantity" | "curves" | "fromZero"> {
    const curves = this.runs.flatMap((run, i): Curve[] => {
      const { t, cwnd, ssthresh } = run.windows.columns;
      const rows = this.hasFlow(run) ? run.windowsByFlow.of(this.state.flow) : new Uint32Array(0);
      const pick = (values: Float64Array): Float64Array => Float64Array.from(rows, (row) => values[row]);
      const look = this.look(run, i);
      return [
        { ...look, name: "window", t: pick(t), v: pick(cwnd) },
        { ...look, name: "threshold", t: pick(t), v: pick(ssthresh), isDashed: true },
      ];
    });
    return { title: this.title()[0], quantity: "congestion window (segments)", curves, fromZero: true };
  }

  private hasFlow(run: Run): boolean {
    return run.flows.some((each) => each.id === this.state.flow);
  }

  protected paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const { flow, from, to } = this.state;
    const curves = this.runs.map((run) => {
      const { t, cwnd, ssthresh } = run.windows.columns;
      const rows = this.hasFlow(run) ? run.windowsByFlow.of(flow) : new Uint32Array(0);
      const pick = (values: Float64Array): Float64Array => Float64Array.from(rows, (row) => values[row]);
      return { rows, t: pick(t), cwnd: pick(cwnd), ssthresh: pick(ssthresh) };
    });
    let most = 2;
    this.runs.forEach((run, i) => {
      const { t, cwnd } = run.windows.columns;
      for (const row of inTime(curves[i].rows, t, from, to)) most = Math.max(most, cwnd[row]);
    });
    this.runs.forEach((_, i) => {
      const { t, cwnd, ssthresh } = curves[i];
      context.lineWidth = 1;
      context.strokeStyle = theme.line;
      context.setLineDash([3, 3]);
      this.steps(context, t, ssthresh.map((each) => Math.min(each, most * 1.02)), most, width, height);
      context.setLineDash([]);
      context.lineWidth = 1.4;
      context.strokeStyle = this.runs.length > 1 ? theme.runs[i] : theme.carries[0];
      this.steps(context, t, cwnd, most, width, height);
    });
    this.scaleText(context, most, width, theme);
  }
}

/** The length of a node's interface queue. */
export class Queue extends Plot {
  private get node(): number {
    const { selected, flow } = this.state;
    return selected >= 0 ? selected : (this.runs[0].flow(flow)?.src ?? 0);
  }

  protected key(): string {
    return String(this.node);
  }

  protected title(): [string, ...[string, string][]] {
    const values = this.values((run) => count(run.queueAt(this.node, this.state.clock.t)));
    return [`Interface queue of node ${this.runs[0].nodeName(this.node)}`, ...values];
  }

  protected chart(): Pick<Chart, "title" | "quantity" | "curves" | "fromZero"> {
    const curves = this.runs.map((run, i): Curve => {
      const { t, length } = run.queues.columns;
      const rows = run.queuesByNode.of(this.node);
      // A queue is empty until the first packet comes.
      const times = Float64Array.of(0, ...Array.from(rows, (row) => t[row]));
      return { ...this.look(run, i), name: "queue", t: times, v: Float64Array.of(0, ...Array.from(rows, (row) => length[row])) };
    });
    return { title: this.title()[0], quantity: "queue length (packets)", curves, fromZero: true };
  }

  protected paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const { from, to } = this.state;
    const all = this.runs.map((run) => run.queuesByNode.of(this.node));
    let most = 1;
    this.runs.forEach((run, i) => {
      const { t, length } = run.queues.columns;
      for (const row of inTime(all[i], t, from, to)) most = Math.max(most, length[row]);
    });
    this.runs.forEach((run, i) => {
      const { t, length } = run.queues.columns;
      context.lineWidth = 1.2;
      context.strokeStyle = this.runs.length > 1 ? theme.runs[i] : theme.carries[0];
      const rows = all[i];
      this.steps(context, Float64Array.from(rows, (row) => t[row]), Float64Array.from(rows, (row) => length[row]), most, width, height);
    });
    this.scaleText(context, most, width, theme);
  }
}

function count(packets: number): string {
  return `${packets} ${packets === 1 ? "packet" : "packets"}`;
}
