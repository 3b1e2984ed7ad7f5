// Moments that matter in a run: losses, timeouts of TCP senders, and where the flow of arrivals stops.

import { ACKNOWLEDGEMENTS, DELIVERED, type Run } from "./model";

/** A flow of which nothing arrives for as long has stalled, in ns. */
export const STALL_NS = 1e9;

export interface Moment {
  t: number;
  what: string;
}

/** The first moment after a time in ns that matters; undefined if there is none among what has been read. */
export function nextMoment(run: Run, losses: Iterable<number>, flows: ReadonlySet<number> | null, after: number): Moment | undefined {
  const found = [nextLoss(run, losses, after)];
  for (const { id } of run.flows) {
    if (flows !== null && !flows.has(id)) continue;
    found.push(nextTimeout(run, id, after), nextStall(run, id, after));
  }
  return found.filter((each) => each !== undefined).sort((a, b) => a.t - b.t)[0];
}

/** What carries a flow's data is lost; routing messages are many, and repeated. */
function nextLoss(run: Run, losses: Iterable<number>, after: number): Moment | undefined {
  const { t, node, packet } = run.hops.columns;
  for (const row of losses) {
    const { flow } = run.packets[packet[row]];
    if (t[row] > after && flow >= 0) return { t: t[row], what: `flow ${flow}: loss at node ${run.nodeName(node[row])}` };
  }
  return undefined;
}

/** A timeout leaves one segment of the window; a fixed timer shows nothing else. */
function nextTimeout(run: Run, flow: number, after: number): Moment | undefined {
  const { t, cwnd, rto } = run.windows.columns;
  let before = -1;
  for (const row of run.windowsByFlow.of(flow)) {
    const isTimeout = before >= 0 && cwnd[row] <= 1 && (cwnd[before] > 1 || rto[row] > rto[before]);
    if (isTimeout && t[row] > after) return { t: t[row], what: `flow ${flow}: timeout` };
    before = row;
  }
  return undefined;
}

function nextStall(run: Run, flow: number, after: number): Moment | undefined {
  const arrivals = arrivalsOf(run, flow);
  for (let i = 0; i < arrivals.length; i++) {
    const next = i + 1 < arrivals.length ? arrivals[i + 1] : run.readUpTo;
    if (arrivals[i] > after && next - arrivals[i] >= STALL_NS) {
      const how = i + 1 < arrivals.length ? `for ${((next - arrivals[i]) / 1e9).toFixed(2)} s` : "up to the end";
      return { t: arrivals[i], what: `flow ${flow}: nothing arrives after this ${how}` };
    }
  }
  return undefined;
}

/** When packets of a flow arrive, in ns; its acknowledgements, which go back, are none. */
function arrivalsOf(run: Run, flow: number): number[] {
  const { t, step, packet } = run.hops.columns;
  const found: number[] = [];
  for (let row = 0; row < run.hops.length; row++) {
    if (step[row] !== DELIVERED) continue;
    const shape = run.packets[packet[row]];
    if (shape.flow === flow && !ACKNOWLEDGEMENTS.has(shape.what)) found.push(t[row]);
  }
  return found;
}
