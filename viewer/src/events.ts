// The events of a recording as columns, from blocks that follow each other.

import { address, type Block, optional, type Recording, type Rows } from "./recording";
import { Table } from "./table";

export const BROADCAST = -1;
export const NONE = -2;

/** What a frame carries: the colour in which it is drawn. */
export const CARRIES = ["data", "routing", "arp", "control"] as const;
export const CONTROL = 3;

export const FRAME_KINDS = ["rts", "cts", "data", "ack"] as const;
export const STEPS = ["made", "sent", "delivered", "marked", "kept", "dropped"] as const;
export const DROPPED = STEPS.indexOf("dropped");
export const MADE = STEPS.indexOf("made");
export const SENT = STEPS.indexOf("sent");
export const DELIVERED = STEPS.indexOf("delivered");
export const OUTCOMES = ["received", "collided", "deaf", "too-weak", "out-of-reach"] as const;

/** Reasons for drops of further copies, which lose nothing. */
export const OF_COPIES = new Set(["duplicate", "already-seen", "suppressed"]);

/** Packets of flows that answer others and go back. */
export const ACKNOWLEDGEMENTS = new Set(["ack", "adp-ack", "psp-ack"]);

/** Tables of events, in the numbers that the order of all events uses. */
export const FRAMES = 0;
export const HOPS = 1;
export const ROUTES = 2;
export const QUEUES = 3;
export const WINDOWS = 4;
export const NOTICES = 5;
export const FLOW_STEPS = 6;

/** A position in the order of all events: which table, and which of its rows. */
export interface EventRef {
  table: number;
  row: number;
}

/** A packet as its steps describe it. */
export interface PacketShape {
  what: string;
  src: number;
  dst: number;
  bytes: number;
  cause: string;
  flow: number;
}

export interface FrameShape {
  kind: string;
  carries: number;
  rate: number;
  bytes: number;
  air: number;
}

let versions = 0;

export class Part {
  readonly frames = new Table({ t: "f64", node: "u16", to: "i32", shape: "u16", uid: "f64", air: "f64", carries: "u8",
    packet: "i32", receptions: "u32", received: "u16" });
  readonly receptions = new Table({ node: "u16", outcome: "u8" });
  readonly hops = new Table({ t: "f64", node: "u16", step: "u8", packet: "i32", uid: "f64", ttl: "u8", next: "i32",
    reason: "u16", number: "f64" });
  readonly routes = new Table({ t: "f64", node: "u16", dst: "i32", next: "i32", hops: "i32" });
  readonly queues = new Table({ t: "f64", node: "u16", length: "u32" });
  readonly windows = new Table({ t: "f64", node: "u16", flow: "u32", cwnd: "f64", ssthresh: "f64", rto: "f64" });
  readonly notices = new Table({ t: "f64", node: "u16", notice: "u16", dst: "i32", detail: "u16" });
  readonly flowSteps = new Table({ t: "f64", node: "u16", flow: "u32", step: "u16" });
  /** The order of all events. */
  readonly order = new Table({ t: "f64", table: "u8", row: "u32" });
  readonly packets: PacketShape[] = [];
  readonly shapes: FrameShape[] = [];
  /** Reasons, notices and other names, in the numbers that columns use. */
  readonly words: string[] = [];
  /** The longest airtime of a frame in ns. */
  longestAir = 0;
  /** Changes with each block, and differs from that of all other parts. */
  version = ++versions;
  private readonly wordNumbers = new Map<string, number>();
  private readonly packetNumbers = new Map<string, number>();
  private readonly shapeNumbers = new Map<string, number>();
  readonly packetOfUid = new Map<number, number>();
  /** Packets of which a copy was delivered. */
  readonly delivered = new Set<number>();
  /** Of each block, its first frame's number and row. */
  private readonly frameBlocks: [number, number][] = [];
  /** The block to be read next. */
  next: number;

  /** @param first The block to begin with: it holds the state before it. */
  constructor(
    private readonly recording: Recording,
    readonly first: number,
  ) {
    this.next = first;
  }

  get events(): number {
    return this.order.length;
  }

  get isAtEnd(): boolean {
    return this.next >= this.recording.blocks;
  }

  /** The times in ns between which all events have been read. */
  get from(): number {
    return this.first === 0 ? 0 : this.recording.blockStart(this.first);
  }

  get upTo(): number {
    return this.events === 0 ? this.from : this.order.columns.t[this.events - 1];
  }

  /** Has the block of a time in ns been read? */
  covers(t: number): boolean {
    const block = this.recording.blockAt(t);
    return block >= this.first && block < this.next;
  }

  async readNext(): Promise<void> {
    this.append(await this.recording.block(this.next));
    this.next++;
    this.version = ++versions;
  }

  word(text: string): number {
    let number = this.wordNumbers.get(text);
    if (number === undefined) {
      number = this.words.push(text) - 1;
      this.wordNumbers.set(text, number);
    }
    return number;
  }

  private append(block: Block): void {
    const { tables, strings } = block.section;
    const words = strings.map((text) => this.word(text));
    const packets = this.dictionary(tables.get("packet"), strings);
    const shapes = this.frameShapes(tables.get("shape"), strings);
    const events = tables.get("event");
    this.frameBlocks.push([block.firstFrame, this.frames.length]);
    if (this.next === this.first) this.begin(block);
    if (events === undefined) return;
    const column = (name: string): Float64Array => need(events, name, "event");
    const [time, kind, node] = [column("time"), column("kind"), column("node")];
    const ids = new Map(this.recording.head.tables.map((each) => [each.id, each.name]));
    const readers = new Map<number, (row: number, t: number, node: number) => number>();
    for (const [id, name] of ids) {
      const rows = tables.get(name);
      if (rows === undefined) continue;
      const reader = this.reader(name, rows, words, packets, shapes);
      if (reader !== undefined) readers.set(id, reader);
    }
    const next = new Map<number, number>();
    // All steps of packets go into one table.
    this.hops.reserve(STEPS.reduce((sum, name) => sum + (tables.get(name)?.rows ?? 0), 0));
    this.order.reserve(events.rows);
    const order = this.order.columns;
    for (let i = 0; i < events.rows; i++) {
      const row = next.get(kind[i]) ?? 0;
      next.set(kind[i], row + 1);
      const reader = readers.get(kind[i]);
      if (reader === undefined) continue;
      const at = this.order.length++;
      order.t[at] = time[i];
      const table = TABLE_OF.get(ids.get(kind[i]) ?? "") ?? 0;
      order.table[at] = table;
      order.row[at] = reader(row, time[i], node[i]);
    }
    this.readReceptions(tables.get("reception"), strings);
  }

  /** What takes a row of an event's table over, and returns its new row. */
  private reader(
    name: string,
    rows: Rows,
    words: number[],
    packets: number[],
    shapes: number[],
  ): ((row: number, t: number, node: number) => number) | undefined {
    const column = (key: string): Float64Array => need(rows, key, name);
    const step = (STEPS as readonly string[]).indexOf(name);
    if (step >= 0) return this.hopReader(step, rows, words, packets);
    switch (name) {
      case "frame":
        return this.frameReader(column("shape"), column("to"), column("uid"), rows.rows, shapes);
      case "route":
        return this.routeReader(column("dst"), column("next_hop"), column("hops"), rows.rows);
      case "queue": {
        const length = column("length");
        this.queues.reserve(rows.rows);
        const into = this.queues.columns;
        return (row, t, node) => {
          const at = this.queues.length++;
          into.t[at] = t;
          into.node[at] = node;
          into.length[at] = length[row];
          return at;
        };
      }
      case "window":
        return this.windowReader(rows);
      case "notice": {
        const [notice, dst, detail] = [column("notice"), column("dst"), column("detail")];
        this.notices.reserve(rows.rows);
        const into = this.notices.columns;
        return (row, t, node) => {
          const at = this.notices.length++;
          into.t[at] = t;
          into.node[at] = node;
          into.notice[at] = words[notice[row]];
          into.dst[at] = address(dst[row]);
          into.detail[at] = words[detail[row]];
          return at;
        };
      }
      case "flow": {
        const [flow, what] = [column("flow"), column("step")];
        this.flowSteps.reserve(rows.rows);
        const into = this.flowSteps.columns;
        return (row, t, node) => {
          const at = this.flowSteps.length++;
          into.t[at] = t;
          into.node[at] = node;
          into.flow[at] = flow[row];
          into.step[at] = words[what[row]];
          return at;
        };
      }
      default:
        return undefined;
    }
  }

  private frameReader(
    shape: Float64Array,
    to: Float64Array,
    uid: Float64Array,
    rows: number,
    shapes: number[],
  ): (row: number, t: number, node: number) => number {
    this.frames.reserve(rows);
    const into = this.frames.columns;
    return (row, t, node) => {
      const at = this.frames.length++;
      const number = shapes[shape[row]];
      const { air, carries } = this.shapes[number];
      into.t[at] = t;
      into.node[at] = node;
      into.to[at] = address(to[row]);
      into.shape[at] = number;
      into.uid[at] = optional(uid[row]);
      into.air[at] = air;
      into.carries[at] = carries;
      into.packet[at] = this.packetOfUid.get(into.uid[at]) ?? NONE;
      if (air > this.longestAir) this.longestAir = air;
      return at;
    };
  }

  private hopReader(
    step: number,
    rows: Rows,
    words: number[],
    packets: number[],
  ): (row: number, t: number, node: number) => number {
    const [packet, uid, ttl] = ["packet", "uid", "ttl"].map((name) => need(rows, name, STEPS[step]));
    const [next, reason, number] = ["next_hop", "reason", "number"].map((name) => rows.columns.get(name));
    const into = this.hops.columns;
    return (row, t, node) => {
      const at = this.hops.length++;
      into.t[at] = t;
      into.node[at] = node;
      into.step[at] = step;
      into.packet[at] = packets[packet[row]];
      into.uid[at] = uid[row];
      into.ttl[at] = ttl[row];
      into.next[at] = next === undefined ? NONE : address(next[row]);
      into.reason[at] = reason === undefined ? 0 : words[reason[row]];
      into.number[at] = number === undefined ? -1 : optional(number[row]);
      this.packetOfUid.set(uid[row], into.packet[at]);
      if (step === DELIVERED) this.delivered.add(uid[row]);
      return at;
    };
  }

  private routeReader(
    dst: Float64Array,
    next: Float64Array,
    hops: Float64Array,
    rows: number,
  ): (row: number, t: number, node: number) => number {
    this.routes.reserve(rows);
    const into = this.routes.columns;
    return (row, t, node) => {
      const at = this.routes.length++;
      into.t[at] = t;
      into.node[at] = node;
      into.dst[at] = address(dst[row]);
      into.next[at] = address(next[row]);
      into.hops[at] = optional(hops[row]);
      return at;
    };
  }

  private windowReader(rows: Rows): (row: number, t: number, node: number) => number {
    const [flow, cwnd, ssthresh, rto] = ["flow", "cwnd", "ssthresh", "rto"].map((name) => need(rows, name, "window"));
    this.windows.reserve(rows.rows);
    const into = this.windows.columns;
    return (row, t, node) => {
      const at = this.windows.length++;
      into.t[at] = t;
      into.node[at] = node;
      into.flow[at] = flow[row];
      into.cwnd[at] = cwnd[row];
      into.ssthresh[at] = ssthresh[row];
      into.rto[at] = rto[row];
      return at;
    };
  }

  /** The state before the first block, in a recording that does not begin with the run. */
  private begin(block: Block): void {
    const { tables } = block.section;
    const t = tables.get("event")?.columns.get("time")?.[0] ?? 0;
    const take = (name: string, read: (rows: Rows) => (row: number, t: number, node: number) => number): void => {
      const rows = tables.get(`at-${name}`);
      if (rows === undefined || rows.rows === 0) return;
      const node = need(rows, "node", `at-${name}`);
      const reader = read(rows);
      for (let row = 0; row < rows.rows; row++) reader(row, t, node[row]);
    };
    const reader = (name: string) => (rows: Rows) => {
      const found = this.reader(name, rows, [], [], []);
      if (found === undefined) throw new Error(`no reader for ${name}`);
      return found;
    };
    for (const name of ["route", "queue", "window"]) take(name, reader(name));
  }

  private readReceptions(rows: Rows | undefined, strings: string[]): void {
    if (rows === undefined) return;
    const [frame, node, outcome] = ["frame", "node", "outcome"].map((name) => need(rows, name, "reception"));
    const outcomes = strings.map((text) => (OUTCOMES as readonly string[]).indexOf(text));
    this.receptions.reserve(rows.rows);
    const into = this.receptions.columns;
    const frames = this.frames.columns;
    for (let row = 0; row < rows.rows; row++) {
      const at = this.receptions.length++;
      into.node[at] = node[row];
      into.outcome[at] = outcomes[outcome[row]];
      const of = this.frameRow(frame[row]);
      if (of < 0) continue;
      // A frame's receptions stand together.
      if (frames.received[of] === 0) frames.receptions[of] = at;
      frames.received[of]++;
    }
  }

  /** The row of a frame by its number in the run; −1 if it is not in the recording. */
  private frameRow(number: number): number {
    for (let i = this.frameBlocks.length - 1; i >= 0; i--) {
      const [first, row] = this.frameBlocks[i];
      if (number < first) continue;
      const found = row + (number - first);
      return found < this.frames.length ? found : -1;
    }
    return -1;
  }

  private dictionary(rows: Rows | undefined, strings: string[]): number[] {
    if (rows === undefined) return [];
    const [what, src, dst, bytes, cause, flow] = ["what", "src", "dst", "bytes", "cause", "flow"].map((name) =>
      need(rows, name, "packet"),
    );
    return Array.from({ length: rows.rows }, (_, row) => {
      const shape: PacketShape = {
        what: strings[what[row]],
        src: address(src[row]),
        dst: address(dst[row]),
        bytes: bytes[row],
        cause: strings[cause[row]],
        flow: optional(flow[row]),
      };
      return numberOf(shape, this.packets, this.packetNumbers);
    });
  }

  private frameShapes(rows: Rows | undefined, strings: string[]): number[] {
    if (rows === undefined) return [];
    const [kind, carries, rate, bytes, air] = ["kind", "for", "rate", "bytes", "airtime"].map((name) =>
      need(rows, name, "shape"),
    );
    return Array.from({ length: rows.rows }, (_, row) => {
      const isData = strings[kind[row]] === "data";
      const shape: FrameShape = {
        kind: strings[kind[row]],
        carries: isData ? (CARRIES as readonly string[]).indexOf(strings[carries[row]]) : CONTROL,
        rate: rate[row],
        bytes: bytes[row],
        air: air[row],
      };
      return numberOf(shape, this.shapes, this.shapeNumbers);
    });
  }
}

const TABLE_OF = new Map<string, number>([
  ["frame", FRAMES],
  ...STEPS.map((step): [string, number] => [step, HOPS]),
  ["route", ROUTES],
  ["queue", QUEUES],
  ["window", WINDOWS],
  ["notice", NOTICES],
  ["flow", FLOW_STEPS],
]);

function need(rows: Rows, name: string, table: string): Float64Array {
  const found = rows.columns.get(name);
  if (found === undefined) throw new Error(`the recording's table ${table} has no column ${name}`);
  return found;
}

/** The number of a value in a list of different ones, to which it is appended if it is new. */
function numberOf<T>(value: T, list: T[], numbers: Map<string, number>): number {
  const key = JSON.stringify(value);
  let number = numbers.get(key);
  if (number === undefined) {
    number = list.push(value) - 1;
    numbers.set(key, number);
  }
  return number;
}
