// What is drawn at an instant, as lists of marks, lines and rings in metres: the same for both renderers.

import { BROADCAST, CONTROL, NONE, type Run } from "./model";
import type { Filtered } from "./filters";
import { type Rgba, rgba, type Theme, withOpacity } from "./theme";

/** Shapes of marks, in the numbers that the shaders use. */
export const DISC = 0;
export const CIRCLE = 1;
export const CROSS = 2;
export const SQUARE = 3;
export const ARROW = 4;
export const BAR = 5;

/** Numbers of 32 bits in rows of equal length, kept from picture to picture; the last is a colour. */
export class Batch {
  floats = new Float32Array(1024);
  private colors = new Uint32Array(this.floats.buffer);
  count = 0;

  constructor(readonly stride: number) {}

  clear(): void {
    this.count = 0;
  }

  add(color: Rgba, ...values: number[]): void {
    const at = this.count * this.stride;
    if (at + this.stride > this.floats.length) {
      const larger = new Float32Array(this.floats.length * 2);
      larger.set(this.floats);
      this.floats = larger;
      this.colors = new Uint32Array(larger.buffer);
    }
    for (let i = 0; i < values.length; i++) this.floats[at + i] = values[i];
    this.colors[at + this.stride - 1] = color;
    this.count++;
  }

  color(row: number): Rgba {
    return this.colors[row * this.stride + this.stride - 1];
  }
}

/** Light in m per ns. */
const LIGHT_SPEED = 0.299792458;
/** The most pairs of nodes that are joined because they are within range of each other. */
const MOST_NEAR = 20_000;
/** How long frames, links and drops stay to be seen, in real seconds. */
const RING_STAYS_S = 0.15;
const LINK_STAYS_S = 0.4;
const DROP_STAYS_S = 1.2;
/** The most rings and links of one picture; the newest are drawn. */
export const MOST_RINGS = 60;
export const MOST_LINKS = 1500;
const MOST_DROPS = 200;

export interface Look {
  t: number;
  /** Simulated seconds per second: what has just happened stays to be seen accordingly. */
  speed: number;
  /** Only what is so at this very instant, as after a step. */
  isExact: boolean;
  /** Metres per pixel. */
  scale: number;
  theme: Theme;
  nodeSize: number;
  /** Node whose ranges are shown, or `NONE`. */
  hovered: number;
  selected: number;
  /** Next hops to this node are shown, or `NONE`. */
  destination: number;
  /** Packet whose journey is shown, or `NONE`. */
  packet: number;
  /** Hops of that packet up to now: pairs of nodes. */
  path: readonly (readonly [number, number])[];
  /** Sources and destinations of the flows that are shown. */
  ends: ReadonlyMap<number, "source" | "destination">;
  shows: { drops: boolean; routes: boolean; queues: boolean; links: boolean };
}

export interface DropMark {
  node: number;
  row: number;
  /** 1 when it has just happened, 0 when it vanishes. */
  strength: number;
}

export class Scene {
  /** x, y (m), size (px), shape, angle (rad, or the filled part of a bar), colour. */
  readonly marks = new Batch(6);
  /** x, y of both ends (m), width (px), cut from both ends (px), colour. */
  readonly lines = new Batch(7);
  /** x, y, radius (m), width (px), colour. */
  readonly rings = new Batch(5);
  /** Frames of this picture, and how many more there were. */
  framesShown = 0;
  framesLeftOut = 0;
  dropMarks: DropMark[] = [];
  /** Lines between nodes within range of each other. */
  linksShown = 0;

  build(run: Run, filtered: Filtered, look: Look): void {
    this.marks.clear();
    this.lines.clear();
    this.rings.clear();
    this.dropMarks = [];
    this.framesShown = this.framesLeftOut = 0;
    run.movement.moveTo(look.t);
    this.walls(run, look);
    this.linksShown = look.shows.links ? this.links(run, look) : 0;
    if (look.hovered >= 0) this.ranges(run, look);
    if (look.destination >= 0) this.nextHops(run, look);
    this.path(run, look);
    const senders = this.frames(run, filtered, look);
    this.nodes(run, look, senders);
    if (look.shows.drops) this.drops(run, filtered, look);
  }

  private walls(run: Run, look: Look): void {
    const color = rgba(look.theme.wall);
    for (const { from, to, opaque } of run.walls) this.lines.add(color, from[0], from[1], to[0], to[1], opaque ? 3 : 1.6, 0);
  }

  /** Joins nodes within range of each other, and says how many pairs there are; all others are looked at by cells. */
  private links(run: Run, look: Look): number {
    const { x, y } = run.movement;
    const { range } = run;
    // Where walls, shadows or single radios decide, the range says too little.
    if (!(range > 0) || !run.linksAreRanges) return 0;
    const color = withOpacity(rgba(look.theme.line), 0.85);
    const cells = new Map<string, number[]>();
    const above = (node: number, other: number): number =>
      (run.movement.height(node, look.t) ?? 0) - (run.movement.height(other, look.t) ?? 0);
    let found = 0;
    for (let node = 0; node < run.nodes; node++) {
      if (!run.movement.isPresent(node, look.t)) continue;
      const [column, line] = [Math.floor(x[node] / range), Math.floor(y[node] / range)];
      for (let i = column - 1; i <= column + 1; i++) {
        for (let j = line - 1; j <= line + 1; j++) {
          for (const other of cells.get(`${i},${j}`) ?? []) {
            if (found === MOST_NEAR || Math.hypot(x[node] - x[other], y[node] - y[other], above(node, other)) > range) continue;
            this.lines.add(color, x[other], y[other], x[node], y[node], 1, 0);
            found++;
          }
        }
      }
      const own = `${column},${line}`;
      const there = cells.get(own);
      if (there === undefined) cells.set(own, [node]);
      else there.push(node);
    }
    return found;
  }

  /** The distances at which the hovered node is understood, and sensed. */
  private ranges(run: Run, look: Look): void {
    const [x, y] = [run.movement.x[look.hovered], run.movement.y[look.hovered]];
    const color = rgba(look.theme.muted);
    if (run.range > 0) this.rings.add(withOpacity(color, 0.9), x, y, run.range, 1.5);
    if (run.carrier > 0) this.rings.add(withOpacity(color, 0.45), x, y, run.carrier, 1);
  }

  private nextHops(run: Run, look: Look): void {
    const color = withOpacity(rgba(look.theme.route), 0.92);
    const next = run.nextHops(look.destination, look.t);
    for (let node = 0; node < next.length; node++) {
      if (next[node] !== NONE && next[node] !== node) this.arrow(run, node, next[node], 1.6, color, look);
    }
  }

  private arrow(run: Run, from: number, to: number, width: number, color: Rgba, look: Look): void {
    const { x, y } = run.movement;
    const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
    const length = Math.hypot(dx, dy);
    const cut = look.nodeSize / 2 + 2;
    // Too short to have a direction that could be seen.
    if (length < look.scale * 2 * cut) return;
    const tip = (cut + 3) * look.scale;
    this.lines.add(color, x[from], y[from], x[to], y[to], width, cut);
    const [ax, ay] = [x[to] - (dx / length) * tip, y[to] - (dy / length) * tip];
    this.marks.add(color, ax, ay, 6 + 2 * width, ARROW, Math.atan2(dy, dx));
  }

  private path(run: Run, look: Look): void {
    const color = rgba(look.theme.select);
    for (const [from, to] of look.path) this.arrow(run, from, to, 2.4, color, look);
  }

  /** Draws frames, and returns the nodes that send, with their colours. */
  private frames(run: Run, filtered: Filtered, look: Look): Map<number, Rgba> {
    const { t, speed, isExact, theme } = look;
    const { t: begin, air, node, to, carries: carriesOf } = run.frames.columns;
    const stays = isExact ? 0 : speed * 1e9;
    const [ringStays, linkStays] = [stays * RING_STAYS_S, stays * LINK_STAYS_S];
    const rows = filtered.frames;
    const end = rowAfter(rows, begin, t);
    const oldest = t - Math.max(run.longestAir, linkStays);
    const senders = new Map<number, Rgba>();
    // At speed, of one node the newest ring, and of two nodes the newest arrow: the rest would lie below.
    const linked = new Set<number>();
    let [rings, links, live] = [0, 0, 0];
    for (let at = end - 1; at >= 0; at--) {
      const row = rows[at];
      if (begin[row] < oldest) break;
      const age = t - begin[row];
      const isOnAir = age < air[row];
      const link = Math.max(linkStays, air[row]);
      if (age >= link) continue;
      live++;
      const carries = carriesOf[row];
      const color = rgba(theme.carries[carries]);
      const ring = Math.max(ringStays, air[row]);
      // Control frames come with the data that they are for: at speed, only that is drawn.
      const isRinging = age < ring && (isOnAir || carries !== CONTROL);
      if (isRinging && rings < MOST_RINGS && (isOnAir || !senders.has(node[row]))) {
        rings++;
        this.ring(run, row, age, isExact ? 0 : ringStays, color);
        if (isOnAir && linkStays < air[row] * 8) this.outcomes(run, row, color, look);
      }
      const pair = node[row] * run.nodes + to[row];
      if (to[row] !== BROADCAST && links < MOST_LINKS && !linked.has(pair) && (carries !== CONTROL || isOnAir)) {
        links++;
        linked.add(pair);
        const fresh = isOnAir ? 1 : 1 - age / link;
        this.arrow(run, node[row], to[row], isOnAir ? 2.2 : 1.8, withOpacity(color, 0.9 * fresh), look);
      }
      if (isRinging && !senders.has(node[row])) senders.set(node[row], color);
    }
    this.framesShown = live;
    this.framesLeftOut = links === MOST_LINKS ? live - MOST_LINKS : 0;
    return senders;
  }

  /** A ring runs out from the sender: as the wave does when time is slow enough to see it. */
  private ring(run: Run, row: number, age: number, stays: number, color: Rgba): void {
    const sender = run.frames.columns.node[row];
    const air = run.frames.columns.air[row];
    const [x, y] = [run.movement.x[sender], run.movement.y[sender]];
    const range = run.range > 0 ? run.range : 100;
    if (stays <= air) {
      const front = stays === 0 ? range : Math.min(range, Math.max(1, LIGHT_SPEED * age));
      this.rings.add(withOpacity(color, 0.95), x, y, front, 2);
      const carrier = stays === 0 ? run.carrier : Math.min(run.carrier, LIGHT_SPEED * age);
      if (carrier > range) this.rings.add(withOpacity(color, 0.35), x, y, carrier, 1);
      return;
    }
    const part = age / stays;
    this.rings.add(withOpacity(color, 0.85 * (1 - part) ** 1.2), x, y, range * (1 - (1 - part) ** 2), 1.8);
  }

  /** What becomes of a frame at the nodes that sense it. */
  private outcomes(run: Run, row: number, color: Rgba, look: Look): void {
    const { x, y } = run.movement;
    for (const { node, outcome } of run.receivers(row)) {
      const size = look.nodeSize + 6;
      switch (outcome) {
        case "received":
          this.marks.add(color, x[node], y[node], size, CIRCLE, 0);
          break;
        case "collided":
          this.marks.add(rgba(look.theme.collision), x[node], y[node], size + 3, CROSS, 0);
          break;
        case "deaf":
          this.marks.add(withOpacity(rgba(look.theme.muted), 0.9), x[node], y[node], size, SQUARE, 0);
          break;
        default:
      }
    }
  }

  private nodes(run: Run, look: Look, senders: Map<number, Rgba>): void {
    const { x, y } = run.movement;
    const { theme, nodeSize, scale } = look;
    const plain = rgba(theme.node);
    const strong = rgba(theme.text);
    for (let node = 0; node < run.nodes; node++) {
      const end = look.ends.get(node);
      if (!run.movement.isPresent(node, look.t)) {
        this.absent(run, look, node);
        continue;
      }
      const color = senders.get(node) ?? (end === undefined ? plain : strong);
      const size = senders.has(node) ? nodeSize + 3 : end === undefined ? nodeSize : nodeSize + 1;
      this.marks.add(color, x[node], y[node], size, DISC, 0);
      if (end === "destination") this.marks.add(withOpacity(strong, 0.8), x[node], y[node], size + 7, CIRCLE, 0);
      if (node === look.selected || node === look.destination) {
        const ring = node === look.selected ? theme.select : theme.route;
        this.marks.add(rgba(ring), x[node], y[node], size + 12, CIRCLE, 0);
      }
      const queued = look.shows.queues ? run.queueAt(node, look.t) : 0;
      if (queued > 0) {
        const part = Math.min(1, queued / Math.max(1, run.note.queueLimit || 50));
        const color = part > 0.8 ? rgba(theme.drop) : rgba(theme.carries[0], 0.9);
        this.marks.add(color, x[node] - scale * (nodeSize / 2 + 6), y[node], 16, BAR, part);
      }
    }
  }

  /** A node that is not there: faint, where it was last or will be next. */
  private absent(run: Run, look: Look, node: number): void {
    const { x, y } = run.movement;
    this.marks.add(withOpacity(rgba(look.theme.muted), 0.35), x[node], y[node], look.nodeSize, CIRCLE, 0);
    if (node === look.selected) this.marks.add(rgba(look.theme.select), x[node], y[node], look.nodeSize + 12, CIRCLE, 0);
  }

  private drops(run: Run, filtered: Filtered, look: Look): void {
    const { t, node } = run.hops.columns;
    const stays = look.isExact ? 1e6 : Math.max(look.speed * 1e9 * DROP_STAYS_S, 1);
    const rows = filtered.drops;
    const end = rowAfter(rows, t, look.t);
    for (let at = end - 1; at >= 0 && this.dropMarks.length < MOST_DROPS; at--) {
      const row = rows[at];
      const age = look.t - t[row];
      if (age > stays) break;
      const strength = look.isExact ? 1 : 1 - age / stays;
      const [x, y] = [run.movement.x[node[row]], run.movement.y[node[row]]];
      this.marks.add(withOpacity(rgba(look.theme.drop), strength), x, y, look.nodeSize + 9, CROSS, 0);
      this.dropMarks.push({ node: node[row], row, strength });
    }
  }
}

/** How many of the rows have a time at or before `t`. */
function rowAfter(rows: Uint32Array, times: Float64Array, t: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[rows[middle]] > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

