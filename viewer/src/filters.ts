// What is shown: filter first, then draw.

import { FLOW_STEPS, FRAMES, HOPS, NOTICES, QUEUES, ROUTES, type Run, WINDOWS } from "./model";

/** Kinds that can be shown or not; the first four are those of frames, in the order of `CARRIES`. */
export const KINDS = ["data", "routing", "arp", "control", "drops", "packets", "routes", "windows", "queues"] as const;
export type Kind = (typeof KINDS)[number];

export interface Filter {
  kinds: Record<Kind, boolean>;
  /** Nodes that take part, or null for all. */
  nodes: Set<number> | null;
  /** Flows that frames and packets belong to, or null for all and for what belongs to none. */
  flows: Set<number> | null;
}

export function everything(): Filter {
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, true])) as Record<Kind, boolean>;
  // Windows and queues have their own plots; as events they are for those who ask.
  return { kinds: { ...kinds, windows: false, queues: false }, nodes: null, flows: null };
}

/**
 * Reads a list of nodes such as "3, 7-12".
 *
 * Returns null for all nodes, or a message if the text is no such list. Nodes that have names are told by them, which
 * commas part; numbers are those of nodes only where they are nobody's name.
 */
export function parseNodes(text: string, nodes: number, labels?: string[]): Set<number> | null | string {
  if (text.trim() === "") return null;
  const found = new Set<number>();
  for (const part of text.split(labels === undefined ? /[\s,;]+/ : /[,;]+/).map((each) => each.trim()).filter(Boolean)) {
    const named = labels?.indexOf(part) ?? -1;
    if (named >= 0) {
      found.add(named);
      continue;
    }
    const range = /^(\d+)(?:[-–](\d+))?$/.exec(part);
    if (range === null) return `“${part}” is not a node. Write, for example, ${labels?.slice(0, 2).join(", ") ?? "3, 7-12"}`;
    const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];
    if (first > last) return `${part}: ranges go upwards`;
    if (last >= nodes) return `Nodes are numbered 0 to ${nodes - 1}`;
    for (let node = first; node <= last; node++) found.add(node);
  }
  return found;
}

/** A filter, applied to a run: the rows that pass, computed again only when something has changed. */
export class Filtered {
  /** Rows of frames that pass, in order of time. */
  frames = new Uint32Array(0);
  /** Rows of drops that lost a packet, among the steps of packets, that pass. */
  drops = new Uint32Array(0);
  /** Events that pass, as positions in the order of all. */
  events = new Uint32Array(0);
  private read = -1;
  private version = -1;

  constructor(readonly run: Run) {}

  /** Applies a filter; `version` counts the filter's changes. True if anything was computed. */
  apply(filter: Filter, version: number): boolean {
    const { run } = this;
    if (this.version === version && this.read === run.version) return false;
    this.version = version;
    this.read = run.version;
    const passes = tests(run, filter);
    this.frames = passing(run.frames.length, passes[FRAMES]);
    this.drops = passing(run.hops.length, (row) => run.isLoss(row) && passes[HOPS](row));
    const { table, row } = run.order.columns;
    this.events = passing(run.events, (at) => passes[table[at]](row[at]));
    return true;
  }
}

type Test = (row: number) => boolean;

function passing(count: number, passes: Test): Uint32Array<ArrayBuffer> {
  const found = new Uint32Array(count);
  let n = 0;
  for (let row = 0; row < count; row++) if (passes(row)) found[n++] = row;
  return found.slice(0, n);
}

/** Of each table, whether a row passes. */
function tests(run: Run, filter: Filter): Test[] {
  const { kinds, nodes, flows } = filter;
  const shown = KINDS.slice(0, 4).map((kind) => kinds[kind]);
  const inFlows = (packet: number): boolean =>
    flows === null || (packet >= 0 && flows.has(run.packets[packet].flow));
  const here = (node: number): boolean => nodes === null || nodes.has(node);
  const frame = run.frames.columns;
  const hop = run.hops.columns;
  const route = run.routes.columns;
  const window = run.windows.columns;
  const flowStep = run.flowSteps.columns;
  const found: Test[] = [];
  found[FRAMES] = (row) =>
    shown[frame.carries[row]] && (here(frame.node[row]) || here(frame.to[row])) && inFlows(frame.packet[row]);
  found[HOPS] = (row) =>
    (run.isLoss(row) ? kinds.drops : kinds.packets) &&
    (here(hop.node[row]) || here(hop.next[row])) &&
    inFlows(hop.packet[row]);
  found[ROUTES] = (row) => kinds.routes && flows === null && here(route.node[row]);
  found[QUEUES] = (row) => kinds.queues && flows === null && here(run.queues.columns.node[row]);
  found[WINDOWS] = (row) => kinds.windows && (flows === null || flows.has(window.flow[row])) && here(window.node[row]);
  found[NOTICES] = (row) => kinds.routes && flows === null && here(run.notices.columns.node[row]);
  found[FLOW_STEPS] = (row) =>
    kinds.packets && (flows === null || flows.has(flowStep.flow[row])) && here(flowStep.node[row]);
  return found;
}
