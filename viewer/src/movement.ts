// Where nodes are: straight legs between waypoints.

import type { Rows } from "./recording";
import { firstAbove } from "./search";

/** Heights in m between which nodes rise and sink at constant speed, one node after the other. */
interface Rising {
  starts: Uint32Array;
  time: Float64Array;
  z: Float64Array;
}

/** When nodes are there, in ns, one node after the other. */
interface Staying {
  starts: Uint32Array;
  from: Float64Array;
  until: Float64Array;
}

/** Of rows that are sorted by node the first of each node, and the one after the last. */
function startsOf(nodes: number, node: ArrayLike<number>): Uint32Array {
  const starts = new Uint32Array(nodes + 1);
  for (let i = 0; i < node.length; i++) starts[node[i] + 1]++;
  for (let i = 0; i < nodes; i++) starts[i + 1] += starts[i];
  return starts;
}

/**
 * The waypoints of all nodes, one node after the other, each sorted by time.
 *
 * A node stands at its first waypoint before, and at its last one after. Positions are computed here, in
 * doubles, and not in the vertex shader: hover, labels, the fallback and the tests need them too, and 10,000
 * of them take less than a millisecond.
 */
export class Movement {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** No node moves, comes or goes. */
  readonly isStatic: boolean;
  private readonly starts: Uint32Array;
  private readonly leg: Uint32Array;
  private at = Number.NaN;
  private readonly rising: Rising | undefined;
  private readonly staying: Staying | undefined;

  constructor(
    readonly nodes: number,
    node: ArrayLike<number>,
    private readonly time: Float64Array,
    private readonly px: Float64Array,
    private readonly py: Float64Array,
    heights?: Rows,
    presence?: Rows,
  ) {
    this.x = new Float64Array(nodes);
    this.y = new Float64Array(nodes);
    this.starts = startsOf(nodes, node);
    this.leg = this.starts.slice(0, nodes);
    this.isStatic = (presence?.rows ?? 0) === 0 && this.leg.every((from, i) => this.starts[i + 1] - from <= 1);
    const column = (rows: Rows, name: string): Float64Array => rows.columns.get(name) ?? new Float64Array(rows.rows);
    if (heights !== undefined && heights.rows > 0)
      this.rising = { starts: startsOf(nodes, column(heights, "node")), time: column(heights, "time"), z: column(heights, "z") };
    if (presence !== undefined && presence.rows > 0)
      this.staying = { starts: startsOf(nodes, column(presence, "node")), from: column(presence, "from"), until: column(presence, "until") };
  }

  /** The height of a node at a time in ns, in m; undefined where no node has heights. */
  height(node: number, t: number): number | undefined {
    if (this.rising === undefined) return undefined;
    const { starts, time, z } = this.rising;
    const [from, to] = [starts[node], starts[node + 1]];
    if (from === to) return 0;
    const next = firstAbove(time, t, from, to);
    if (next === from || next === to) return z[next === from ? from : to - 1];
    return z[next - 1] + ((z[next] - z[next - 1]) * (t - time[next - 1])) / (time[next] - time[next - 1]);
  }

  /** Is a node there at a time in ns? */
  isPresent(node: number, t: number): boolean {
    if (this.staying === undefined) return true;
    const { starts, from, until } = this.staying;
    const [first, end] = [starts[node], starts[node + 1]];
    if (first === end) return true;
    const at = firstAbove(from, t, first, end) - 1;
    return at >= first && t < until[at];
  }

  /** Moves all nodes to where they are at a time in ns: `x` and `y` in m. */
  moveTo(t: number): void {
    if (t === this.at) return;
    this.at = t;
    for (let node = 0; node < this.nodes; node++) {
      const leg = this.legAt(node, t, this.leg[node]);
      this.leg[node] = leg;
      this.place(node, leg, t);
    }
  }

  private legAt(node: number, t: number, guess: number): number {
    const { time, starts } = this;
    const from = starts[node];
    const to = starts[node + 1];
    // Mostly the same leg as before, or the next one.
    for (let leg = guess; leg < guess + 2 && leg < to; leg++) {
      if (time[leg] <= t && (leg + 1 === to || time[leg + 1] > t)) return leg;
    }
    return Math.max(from, firstAbove(time, t, from, to) - 1);
  }

  private place(node: number, leg: number, t: number): void {
    const { time, px, py } = this;
    const next = leg + 1;
    // A node without waypoints stays at the origin.
    if (leg >= this.starts[node + 1]) return;
    if (next >= this.starts[node + 1] || t <= time[leg] || time[next] === time[leg]) {
      this.x[node] = px[leg];
      this.y[node] = py[leg];
      return;
    }
    const part = (t - time[leg]) / (time[next] - time[leg]);
    this.x[node] = px[leg] + (px[next] - px[leg]) * part;
    this.y[node] = py[leg] + (py[next] - py[leg]) * part;
  }

  /** Where one node is at a time in ns, without moving the others. */
  position(node: number, t: number): [number, number] {
    const leg = this.legAt(node, t, this.starts[node]);
    const [x, y] = [this.x[node], this.y[node]];
    this.place(node, leg, t);
    const found: [number, number] = [this.x[node], this.y[node]];
    this.x[node] = x;
    this.y[node] = y;
    return found;
  }

  /** The smallest box around all waypoints: left, bottom, right, top. */
  bounds(): [number, number, number, number] {
    let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.px.length; i++) {
      left = Math.min(left, this.px[i]);
      right = Math.max(right, this.px[i]);
      bottom = Math.min(bottom, this.py[i]);
      top = Math.max(top, this.py[i]);
    }
    return [left, bottom, right, top];
  }
}
