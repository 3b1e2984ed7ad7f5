// A run, and the questions that the page asks about it.

import {
  OF_COPIES,
  DROPPED,
  type EventRef,
  FRAMES,
  type FrameShape,
  HOPS,
  NONE,
  OUTCOMES,
  type PacketShape,
  Part,
} from "./events";
import { Groups } from "./groups";
import { Movement } from "./movement";
import type { RecordedFlow, Recording, RecordingHead } from "./recording";
import { firstAbove, firstFrom } from "./search";

export * from "./events";

/** What the page is told beside the recording. */
export interface RunNote {
  name: string;
  /** The run in a few words, each for itself: `AODV`, `50 nodes`. */
  summary: string[];
  /** What is worth knowing about the run, as label and value. */
  facts: [string, string][];
  /** Packets that an interface queue takes; 0 if it is not known. */
  queueLimit: number;
  /** What of the run is not in the recording, in words; empty if nothing is missing. */
  missing: string[];
}

/** A straight piece of a wall. */
export interface WallPiece {
  from: readonly [number, number];
  to: readonly [number, number];
  opaque: boolean;
}

/** The most pieces that are drawn: more would be no picture. */
const MOST_PIECES = 50_000;

function pieces(walls: NonNullable<RecordingHead["walls"]>): WallPiece[] {
  const found: WallPiece[] = [];
  for (const { points, building, opaque } of walls) {
    for (let at = building ? 0 : 1; at < points.length && found.length < MOST_PIECES; at++) {
      found.push({ from: points[(at + points.length - 1) % points.length], to: points[at], opaque });
    }
  }
  return found;
}

/** Rows in groups, of the events of one version. */
interface Kept {
  version: number;
  groups: Groups;
}

/** A run: what the page asks about it, of all its events or, while they are read, of those around a moment. */
export class Run {
  readonly movement: Movement;
  readonly nodes: number;
  readonly range: number;
  readonly carrier: number;
  readonly duration: number;
  readonly walls: readonly WallPiece[];
  /** Is a link two nodes within range, and nothing more? */
  readonly linksAreRanges: boolean;
  /** Is a path a chain of such links? Not where there are wires, or radios of different power. */
  readonly pathsAreRanges: boolean;
  readonly flows: RecordedFlow[];
  readonly destinations: number[];
  /** All blocks, read from the first on. */
  private readonly whole: Part;
  /** Blocks around a moment that `whole` has not come to yet. */
  private ahead: Part | undefined;
  private part: Part;
  private readonly routesTo = new Map<number, Kept>();
  private queueGroups: Kept | undefined;
  private windowGroups: Kept | undefined;

  constructor(
    readonly recording: Recording,
    readonly note: RunNote,
  ) {
    const { head, moving } = recording;
    const { points, heights, presence } = moving;
    this.nodes = head.nodes;
    this.duration = Math.round(head.duration_s * 1e9);
    this.range = head.receive_range_m.reduce((most, each) => Math.max(most, each.range_m), 0);
    this.carrier = head.sense_range_m;
    this.walls = pieces(head.walls ?? []);
    this.linksAreRanges = head.links_by_distance ?? true;
    const { wired, radios } = head.provenance?.scenario ?? {};
    this.pathsAreRanges = this.linksAreRanges && !((wired?.length ?? 0) > 0 || (radios?.length ?? 0) > 0);
    this.flows = head.flows;
    this.destinations = head.destinations;
    const column = (name: string): Float64Array => points.columns.get(name) ?? new Float64Array(points.rows);
    this.movement = new Movement(head.nodes, column("node"), column("time"), column("x"), column("y"), heights, presence);
    this.part = this.whole = new Part(recording, 0);
  }

  /** What a node is called: by the name that its user gave it, or by its number. */
  nodeName(node: number): string {
    return this.recording.head.labels?.[node] ?? String(node);
  }

  get isComplete(): boolean {
    return this.whole.isAtEnd;
  }

  get blocksRead(): number {
    return this.whole.next;
  }

  /** The times in ns between which all events have been read: those that the page shows now. */
  get readFrom(): number {
    return this.part.from;
  }

  get readUpTo(): number {
    return this.part.isAtEnd ? this.duration : this.part.upTo;
  }

  /** Has the block of a time in ns been read? */
  hasRead(t: number): boolean {
    return this.whole.covers(t) || this.ahead?.covers(t) === true;
  }

  /** Turns to the events around a time in ns: to all, unless they have not been read up to there. */
  turnTo(t: number): void {
    this.part = !this.whole.covers(t) && this.ahead?.covers(t) === true ? this.ahead : this.whole;
  }

  /**
   * Reads a block: the one at a time in ns if it has not been read, the one before it first and the one after it
   * then; otherwise the next of all. False if there was none.
   */
  async readNext(t: number): Promise<boolean> {
    if (this.isComplete) return false;
    const wanted = this.recording.blockAt(t);
    if (this.whole.next >= wanted) this.ahead = undefined;
    else if (this.ahead === undefined || wanted < this.ahead.first || wanted > this.ahead.next) {
      this.ahead = new Part(this.recording, Math.max(0, wanted - 1));
    }
    const { ahead } = this;
    await (ahead !== undefined && !ahead.isAtEnd && ahead.next <= wanted + 1 ? ahead : this.whole).readNext();
    if (this.isComplete) this.ahead = undefined;
    return true;
  }

  /** Changes whenever there are other events. */
  get version(): number {
    return this.part.version;
  }

  get events(): number {
    return this.part.events;
  }

  get frames(): Part["frames"] {
    return this.part.frames;
  }

  get receptions(): Part["receptions"] {
    return this.part.receptions;
  }

  get hops(): Part["hops"] {
    return this.part.hops;
  }

  get routes(): Part["routes"] {
    return this.part.routes;
  }

  get queues(): Part["queues"] {
    return this.part.queues;
  }

  get windows(): Part["windows"] {
    return this.part.windows;
  }

  get notices(): Part["notices"] {
    return this.part.notices;
  }

  get flowSteps(): Part["flowSteps"] {
    return this.part.flowSteps;
  }

  /** The order of all events. */
  get order(): Part["order"] {
    return this.part.order;
  }

  get packets(): readonly PacketShape[] {
    return this.part.packets;
  }

  get shapes(): readonly FrameShape[] {
    return this.part.shapes;
  }

  /** Reasons, notices and other names, in the numbers that columns use. */
  get words(): readonly string[] {
    return this.part.words;
  }

  get longestAir(): number {
    return this.part.longestAir;
  }

  event(at: number): EventRef {
    return { table: this.order.columns.table[at], row: this.order.columns.row[at] };
  }

  /** The rows of frames that begin in [from, to] ns: the first, and the one after the last. */
  framesBegun(from: number, to: number): [number, number] {
    const { t } = this.frames.columns;
    const first = firstFrom(t, from, 0, this.frames.length);
    return [first, firstAbove(t, to, first, this.frames.length)];
  }

  /** The frames on the air at a time in ns. */
  onAir(t: number): number[] {
    const { t: begin, air } = this.frames.columns;
    const [first, end] = this.framesBegun(t - this.longestAir, t);
    const found: number[] = [];
    for (let row = first; row < end; row++) if (begin[row] + air[row] > t) found.push(row);
    return found;
  }

  /** Of each node the next hop to a destination at a time in ns, `NONE` where there is none. */
  nextHops(destination: number, t: number): Int32Array {
    const { node, dst, next, t: time } = this.routes.columns;
    let kept = this.routesTo.get(destination);
    if (kept?.version !== this.version) {
      const key = (row: number): number => (dst[row] === destination ? node[row] : NONE);
      kept = { version: this.version, groups: new Groups(this.nodes, this.routes.length, key, time) };
      this.routesTo.set(destination, kept);
    }
    const found = new Int32Array(this.nodes).fill(NONE);
    for (let each = 0; each < found.length; each++) {
      const row = kept.groups.at(each, t);
      if (row >= 0) found[each] = next[row];
    }
    return found;
  }

  /** Changes of queue lengths by node. */
  get queuesByNode(): Groups {
    if (this.queueGroups?.version !== this.version) {
      const { node, t } = this.queues.columns;
      const groups = new Groups(this.nodes, this.queues.length, (row) => node[row], t);
      this.queueGroups = { version: this.version, groups };
    }
    return this.queueGroups.groups;
  }

  queueAt(node: number, t: number): number {
    const row = this.queuesByNode.at(node, t);
    return row < 0 ? 0 : this.queues.columns.length[row];
  }

  /** Changes of TCP senders' windows by flow. */
  get windowsByFlow(): Groups {
    if (this.windowGroups?.version !== this.version) {
      const { flow, t } = this.windows.columns;
      const flows = this.flows.reduce((most, each) => Math.max(most, each.id + 1), 0);
      const key = (row: number): number => (flow[row] < flows ? flow[row] : NONE);
      this.windowGroups = { version: this.version, groups: new Groups(flows, this.windows.length, key, t) };
    }
    return this.windowGroups.groups;
  }

  /** Everything that happened to a packet, in order: its steps and the frames that were sent for it. */
  journey(uid: number): EventRef[] {
    const found: EventRef[] = [];
    const { table, row } = this.order.columns;
    const [hops, frames] = [this.hops.columns.uid, this.frames.columns.uid];
    for (let at = 0; at < this.events; at++) {
      const of = table[at] === HOPS ? hops : table[at] === FRAMES ? frames : undefined;
      if (of !== undefined && of[row[at]] === uid) found.push({ table: table[at], row: row[at] });
    }
    return found;
  }

  timeOf({ table, row }: EventRef): number {
    return this.eventTable(table).columns.t[row];
  }

  nodeOf({ table, row }: EventRef): number {
    return this.eventTable(table).columns.node[row];
  }

  private eventTable(table: number): { columns: { t: Float64Array; node: Uint16Array } } {
    return [this.frames, this.hops, this.routes, this.queues, this.windows, this.notices, this.flowSteps][table];
  }

  /** What became of a frame at its receivers. */
  receivers(frame: number): { node: number; outcome: (typeof OUTCOMES)[number] }[] {
    const { receptions, received } = this.frames.columns;
    const { node, outcome } = this.receptions.columns;
    const first = receptions[frame];
    return Array.from({ length: received[frame] }, (_, i) => ({
      node: node[first + i],
      outcome: OUTCOMES[outcome[first + i]],
    }));
  }

  /**
   * Was a packet lost by a step? By drops, but not by those of further copies, of requests at the edge of their
   * ring, or of packets of which another copy arrives.
   */
  isLoss(row: number): boolean {
    const { step, reason, packet, uid } = this.hops.columns;
    if (step[row] !== DROPPED) return false;
    const why = this.words[reason[row]];
    if (OF_COPIES.has(why)) return false;
    if (why === "ttl-expired" && (this.packets[packet[row]]?.flow ?? -1) < 0) return false;
    return !this.part.delivered.has(uid[row]);
  }

  /** The first moment in ns, at or after a time and among the events that were read, at which data is on the air. */
  firstData(from: number): number | undefined {
    const { t, air, carries } = this.frames.columns;
    for (let row = firstFrom(t, from, 0, this.frames.length); row < this.frames.length; row++) {
      if (carries[row] === 0) return Math.round(t[row] + air[row] / 2);
    }
    return undefined;
  }

  /** A packet by its number in the run, as its last step described it. */
  packet(uid: number): PacketShape | undefined {
    return this.packets[this.part.packetOfUid.get(uid) ?? -1];
  }

  flow(id: number): RecordedFlow | undefined {
    return this.flows.find((each) => each.id === id);
  }
}
