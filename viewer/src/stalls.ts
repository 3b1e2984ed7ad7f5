// What held a flow up, and for how long: each instant of its life has one cause (docs/recording.md).
//
// python/manetlab/stalls.py computes the same; a test compares the two.

import { BROADCAST, DELIVERED, DROPPED, FRAMES, HOPS, type Run, STEPS } from "./model";
import { OF_COPIES } from "./events";
import { CELL, Paths } from "./paths";

export const CAUSES = ["on-air", "queue", "back-off", "searching", "kept", "no-path", "lost", "timeout", "idle"] as const;
export type Cause = (typeof CAUSES)[number];

/** A part of a flow's life, in ns: what held it up, where, and why it was lost. */
export interface Stall {
  from: number;
  until: number;
  cause: Cause;
  node?: number;
  reason?: string;
}

/** Frames this close, in ns, belong to one exchange: more than SIFS, and less than any DIFS. */
const EXCHANGE = 30_000;
/** A node hands a packet on within this time after its frame has ended, in ns, unless it has no route. */
const HANDLING = 1_000_000;

type Held = Cause | "arrived";

interface Change {
  t: number;
  order: number;
  cause: Held;
  node: number;
  reason: string;
}

/** A packet on its way. */
interface Packet {
  order: number;
  isForward: boolean;
  dst: number;
  cause: Held;
  node: number;
  /** When the frame ends that has just brought it to a node, and which. */
  pending: [t: number, node: number] | undefined;
  /** Has it been delivered, or was dropping it the last that was done to it? */
  isEnded: boolean;
}

/** What a flow waits for, and the nodes that must be joined by a path. */
type Waiting = Stall & { ends?: [number, number] };

const kept = new WeakMap<Run, { version: number; flows: Map<number, Stall[]> }>();

/** The parts of a flow's life, which follow each other without a gap; none until the whole run has been read. */
export function stallsOf(run: Run, flow: number): readonly Stall[] {
  if (!run.isComplete) return [];
  let found = kept.get(run);
  if (found?.version !== run.version) kept.set(run, (found = { version: run.version, flows: new Map() }));
  let stalls = found.flows.get(flow);
  if (stalls === undefined) found.flows.set(flow, (stalls = made(run, flow)));
  return stalls;
}

function made(run: Run, id: number): Stall[] {
  const flow = run.flow(id);
  const { t, flow: of, step, length } = { ...run.flowSteps.columns, length: run.flowSteps.length };
  const mine = Array.from({ length }, (_, row) => row).filter((row) => of[row] === id);
  const named = (name: string): number[] => mine.filter((row) => run.words[step[row]] === name).map((row) => t[row]);
  const [begin] = named("opened");
  if (flow === undefined || begin === undefined) return [];
  const { changes, air, packets, last } = followed(run, id, flow.src);
  const over = run.recording.isWhole ? run.duration : run.order.columns.t[run.events - 1];
  const isClosed = (named("closed").at(-1) ?? -1) >= (named("opened").at(-1) ?? 0);
  // What is on its way when the source has ended is the flow's, too.
  const end = isClosed && packets.every((each) => each.isEnded) ? Math.max(last, named("closed").at(-1) ?? 0) : over;
  const waits = waiting(changes, packets, [flow.src, flow.dst], begin, end);
  const paths = run.pathsAreRanges ? new Paths(run) : undefined;
  const parts = withAir(waits, air, begin, end).flatMap((each) => withPaths(each, paths));
  return merged(timedOut(parts, new Set(named("timed-out"))));
}

/** All changes of a flow's packets in order, and when frames were on the air for one of them. */
function followed(run: Run, id: number, source: number): { changes: Change[]; air: [number, number][]; packets: Packet[]; last: number } {
  const [changes, air, packets]: [Change[], [number, number][], Packet[]] = [[], [], []];
  const byUid = new Map<number, Packet>();
  const become = (packet: Packet, t: number, cause: Held, node: number, reason = ""): void => {
    [packet.cause, packet.node] = [cause, node];
    changes.push({ t, order: packet.order, cause, node, reason });
  };
  const arrive = (packet: Packet, t: number): void => {
    if (packet.pending === undefined || packet.pending[0] > t) return;
    const [ended, node] = packet.pending;
    packet.pending = undefined;
    // Nobody acknowledges a broadcast: unless a receiver sends it on, it is lost.
    if (node === BROADCAST) become(packet, ended, "lost", packet.node, "broadcast");
    else become(packet, ended, "searching", node);
  };
  const handed = (packet: Packet, t: number, node: number): void => {
    const { pending } = packet;
    arrive(packet, t);
    if (pending !== undefined && pending[1] === node && pending[0] <= t && t - pending[0] <= HANDLING) air.push([pending[0], t]);
  };
  let last = 0;
  const { table, row: rows } = run.order.columns;
  const { hops: { columns: hop }, frames: { columns: frame } } = run;
  for (let at = 0; at < run.events; at++) {
    const row = rows[at];
    if (table[at] === HOPS) {
      const shape = run.packets[hop.packet[row]];
      if (shape.flow !== id) continue;
      const what = STEPS[hop.step[row]];
      if (what === "marked") continue;
      const [t, node] = [hop.t[row], hop.node[row]];
      last = t;
      let packet = byUid.get(hop.uid[row]);
      if (packet === undefined) {
        if (hop.step[row] === DELIVERED || hop.step[row] === DROPPED) continue;
        packet = { order: packets.length, isForward: shape.src === source, dst: shape.dst, cause: "searching", node, pending: undefined, isEnded: false };
        packets.push(packet);
        byUid.set(hop.uid[row], packet);
        become(packet, t, "searching", node);
      }
      handed(packet, t, node);
      packet.isEnded = what === "delivered" || what === "dropped" || packet.cause === "arrived";
      if (packet.cause === "arrived") continue;
      if (what === "sent") become(packet, t, "queue", node);
      else if (what === "kept") become(packet, t, "kept", node);
      else if (what === "delivered") become(packet, t, "arrived", node);
      else if (what === "dropped") {
        const reason = run.words[hop.reason[row]];
        // Elsewhere it is a copy that is dropped: the sender of one whose acknowledgement was lost.
        if (!OF_COPIES.has(reason) && node === packet.node) become(packet, t, "lost", node, reason);
      }
    } else if (table[at] === FRAMES) {
      const packet = byUid.get(frame.uid[row]);
      if (packet === undefined) continue;
      const [t, node, { kind, air: airtime }] = [frame.t[row], frame.node[row], run.shapes[frame.shape[row]]];
      handed(packet, t, node);
      air.push([t, t + airtime]);
      if (packet.cause === "arrived" || node !== packet.node || (kind !== "rts" && kind !== "data")) continue;
      become(packet, t, "back-off", node);
      const hasArrived = kind === "data" && (frame.to[row] === BROADCAST || run.receivers(row).some((each) => each.node === frame.to[row] && each.outcome === "received"));
      if (hasArrived) packet.pending = [t + airtime, frame.to[row]];
    }
  }
  for (const packet of packets) arrive(packet, Infinity);
  return { changes: ordered(changes), air, packets, last };
}

/** In order of time, then of packets; of one packet's changes the order stays. */
function ordered(changes: Change[]): Change[] {
  return changes.sort((a, b) => a.t - b.t || a.order - b.order);
}

/** What the flow waits for, as if nothing were on the air and all were joined. */
function waiting(changes: Change[], packets: Packet[], flow: [number, number], begin: number, end: number): Waiting[] {
  const found: Waiting[] = [];
  const now: Change[] = [];
  // Of each way the packets that wait, the oldest first.
  const queues: [number[], number[]] = [[], []];
  const overtaken: [number, number] = [-1, -1];
  let last: Change | undefined;
  changes.forEach((change, i) => {
    const { order, cause, t } = change;
    const way = packets[order].isForward ? 0 : 1;
    const isNew = now[order] === undefined || isOver(now[order]);
    now[order] = change;
    if (isOver(change)) {
      last = change;
      if (cause === "arrived") overtaken[way] = Math.max(overtaken[way], order);
    } else if (isNew) insert(queues[way], order);
    const [from, until] = [Math.max(begin, t), Math.min(end, changes[i + 1]?.t ?? end)];
    if (until <= from) return;
    const foremost = queues.map((queue, i) => {
      while (queue.length > 0 && (queue[0] < overtaken[i] || isOver(now[queue[0]]))) queue.shift();
      return queue[0];
    });
    const held = now[foremost[0] ?? foremost[1]];
    if (held !== undefined) found.push({ from, until, cause: held.cause as Cause, node: held.node, ends: [held.node, packets[held.order].dst] });
    else if (last?.cause === "lost") found.push({ from, until, cause: "lost", node: last.node, reason: last.reason, ends: flow });
    else found.push({ from, until, cause: "idle" });
  });
  return found;
}

function isOver({ cause }: Change): boolean {
  return cause === "arrived" || cause === "lost";
}

/** Puts a number into a list that is sorted; mostly it is the largest. */
function insert(list: number[], value: number): void {
  let at = list.length;
  while (at > 0 && list[at - 1] > value) at--;
  list.splice(at, 0, value);
}

/** The same with the times in which a frame is on the air; before the first packet there is nothing. */
function withAir(waits: Waiting[], air: [number, number][], begin: number, end: number): Waiting[] {
  const spans = joined(air);
  const found: Waiting[] = [];
  let [at, where] = [begin, 0];
  for (const each of waits) {
    if (each.from > at) found.push({ from: at, until: each.from, cause: "idle" });
    at = each.from;
    while (at < each.until) {
      while (where < spans.length && spans[where][1] <= at) where++;
      const [first, last] = spans[where] ?? [each.until, each.until];
      const until = Math.min(each.until, first > at ? first : last);
      found.push(first > at ? { ...each, from: at, until } : { from: at, until, cause: "on-air" });
      at = until;
    }
  }
  if (at < end) found.push({ from: at, until: end, cause: "idle" });
  return found;
}

/** The spans in order, those of one exchange as one. */
function joined(air: [number, number][]): [number, number][] {
  const spans: [number, number][] = [];
  for (const [from, until] of air.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const before = spans.at(-1);
    if (before !== undefined && from <= before[1] + EXCHANGE) before[1] = Math.max(before[1], until);
    else spans.push([from, until]);
  }
  return spans;
}

/** The part, split where a path between two nodes comes or goes. */
function withPaths({ ends, ...stall }: Waiting, paths: Paths | undefined): Stall[] {
  if (paths === undefined || ends === undefined) return [stall];
  const found: Stall[] = [];
  for (let at = stall.from; at < stall.until; ) {
    const until = Math.min(stall.until, (Math.floor(at / CELL) + 1) * CELL);
    const isJoined = paths.areJoined(...ends, at);
    found.push(isJoined ? { ...stall, from: at, until } : { from: at, until, cause: "no-path", node: ends[0] });
    at = until;
  }
  return found;
}

/** What waits with nothing on its way until the timer expires waits for it. */
function timedOut(parts: Stall[], timeouts: ReadonlySet<number>): Stall[] {
  let isWaiting = false;
  for (const part of parts.toReversed()) {
    if (timeouts.has(part.until)) isWaiting = true;
    isWaiting &&= part.cause === "lost" || part.cause === "idle";
    if (isWaiting) part.cause = "timeout";
  }
  return parts;
}

function merged(parts: Stall[]): Stall[] {
  const found: Stall[] = [];
  for (const part of parts) {
    const before = found.at(-1);
    if (before !== undefined && keyOf(before) === keyOf(part)) before.until = part.until;
    else found.push(part);
  }
  return found;
}

function keyOf({ cause, node, reason }: Stall): string {
  return `${cause} ${node ?? ""} ${reason ?? ""}`;
}

/** How long each cause held a flow up, in ns, the longest first, and its part of the flow's life. */
export function sharesOf(stalls: readonly Stall[]): (Omit<Stall, "from" | "until"> & { key: string; time: number; share: number })[] {
  const sums = new Map<string, { cause: Cause; node?: number; reason?: string; key: string; time: number; share: number }>();
  let life = 0;
  for (const { from, until, ...what } of stalls) {
    const key = keyOf({ from, until, ...what });
    const sum = sums.get(key) ?? { ...what, key, time: 0, share: 0 };
    sum.time += until - from;
    life += until - from;
    sums.set(key, sum);
  }
  return [...sums.values()].map((each) => ({ ...each, share: each.time / life })).sort((a, b) => b.time - a.time);
}

/** The part of a time in ns; undefined before and after the flow's life. */
export function stallAt(stalls: readonly Stall[], t: number): Stall | undefined {
  let [low, high] = [0, stalls.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (stalls[middle].from > t) high = middle;
    else low = middle + 1;
  }
  const found = stalls[low - 1];
  return found !== undefined && t < found.until ? found : undefined;
}
