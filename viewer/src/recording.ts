// The reader of recordings: chunks, sections and columns of versions 2 and 3 (docs/recording.md).
//
// The page holds the file as `manetlab run --record` writes it; nothing is lost between the run and the page.

import { type Bytes, inflate } from "./bytes";
import { checkedHead, checkedMovement } from "./head";
import { firstAbove } from "./search";

const MAGIC = [0x89, 0x4d, 0x4c, 0x52, 0x45, 0x43, 0x0d, 0x0a];
const OLDEST_VERSION = 2;
const VERSION = 3;
const FILE_HEAD = 16;
const CHUNK_HEAD = 16;
const BLOCK_HEAD = 48;
/** The most rows of a table of a section; runs write far fewer. */
const MOST_ROWS = 2 ** 26;

interface ColumnSchema {
  id: number;
  name: string;
  type: "uint" | "optional" | "time" | "address" | "string" | "float" | "row";
}

interface TableSchema {
  id: number;
  name: string;
  columns: ColumnSchema[];
}

export interface RecordedFlow {
  id: number;
  kind: string;
  src: number;
  dst: number;
  start_s: number;
}

/** The file's head, as far as the page reads it. */
export interface RecordingHead {
  format: string;
  version: number;
  nodes: number;
  duration_s: number;
  warmup_s: number;
  routing: string;
  receive_range_m: { rate_bps: number; range_m: number }[];
  sense_range_m: number;
  walls?: { points: [number, number][]; building: boolean; opaque: boolean }[];
  /** Is a link two nodes within range, and nothing more? */
  links_by_distance?: boolean;
  bounds_m: [number, number, number, number] | null;
  flows: RecordedFlow[];
  destinations: number[];
  /** What the nodes are called, if they have names of their own. */
  labels?: string[];
  tables: TableSchema[];
  /** The scenario that was run. */
  provenance?: { scenario?: { wired?: unknown[]; radios?: unknown[] } } | null | undefined;
}

/** Where nodes are, how high, and when: tables without rows where there is nothing to say. */
export interface Moving {
  points: Rows;
  heights: Rows;
  presence: Rows;
}

/** A table of a section: numbers as they are stored, see `address` and `optional`. */
export interface Rows {
  rows: number;
  columns: Map<string, Float64Array>;
}

export interface Section {
  strings: string[];
  tables: Map<string, Rows>;
}

export interface Block {
  firstFrame: number;
  events: number;
  frames: number;
  section: Section;
}

/** A node's number from an address; −1 for all nodes, −2 for none. */
export function address(value: number): number {
  return value - 2 === -1 ? -1 : value === 0 ? -2 : value - 2;
}

/** A number that may be missing, which −1 stands for. */
export function optional(value: number): number {
  return value - 1;
}

interface Chunk {
  type: string;
  start: number;
  end: number;
}

export class Recording {
  private constructor(
    readonly head: RecordingHead,
    readonly moving: Moving,
    private readonly bytes: Bytes,
    private readonly chunks: Chunk[],
    /** Of each block the time of its first event in ns. */
    private readonly starts: readonly number[],
    /** Events of all blocks. */
    readonly events: number,
    /** The run reached its end. */
    readonly isWhole: boolean,
  ) {}

  /** Reads the head and the movement; blocks are read one by one. */
  static async open(bytes: Bytes): Promise<Recording> {
    if (MAGIC.some((each, i) => bytes[i] !== each)) throw new Error("this is not a recording");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const version = view.getUint32(8, true);
    if (version < OLDEST_VERSION || version > VERSION)
      throw new Error(`the recording has version ${version}; this page reads ${OLDEST_VERSION} to ${VERSION}`);
    const chunks = chunksOf(bytes, view);
    const [headChunk, moveChunk] = [chunks[0], chunks[1]];
    if (headChunk?.type !== "HEAD" || moveChunk?.type !== "MOVE") throw new Error("the recording has no head");
    const text = await inflate(bytes.slice(headChunk.start, headChunk.end));
    const head = checkedHead(JSON.parse(new TextDecoder().decode(text)));
    const move = readSection(await inflate(bytes.slice(moveChunk.start, moveChunk.end)), head.tables);
    const none = { rows: 0, columns: new Map<string, Float64Array>() };
    const moving = checkedMovement(
      {
        points: move.tables.get("point") ?? none,
        heights: move.tables.get("height") ?? none,
        presence: move.tables.get("presence") ?? none,
      },
      head.nodes,
    );
    const blocks = chunks.filter((each) => each.type === "BLCK");
    const events = blocks.reduce((sum, each) => sum + view.getUint32(each.start + 32, true), 0);
    const starts = blocks.map((each) => Number(view.getBigUint64(each.start, true)));
    return new Recording(head, moving, bytes, blocks, starts, events, chunks.at(-1)?.type === "INDX");
  }

  get blocks(): number {
    return this.chunks.length;
  }

  /** The time of a block's first event in ns. */
  blockStart(number: number): number {
    return this.starts[number];
  }

  /** The block of what is so at a time in ns: the last that begins at or before it. */
  blockAt(t: number): number {
    return Math.max(0, firstAbove(this.starts, t) - 1);
  }

  async block(number: number): Promise<Block> {
    const { start, end } = this.chunks[number];
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + start, BLOCK_HEAD);
    const raw = await inflate(this.bytes.slice(start + BLOCK_HEAD, end));
    return {
      firstFrame: Number(view.getBigUint64(24, true)),
      events: view.getUint32(32, true),
      frames: view.getUint32(36, true),
      section: readSection(raw, this.head.tables),
    };
  }
}

/** The chunks up to the first that is not whole. */
function chunksOf(bytes: Bytes, view: DataView): Chunk[] {
  const found: Chunk[] = [];
  let at = FILE_HEAD;
  while (at + CHUNK_HEAD <= bytes.length) {
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const start = at + CHUNK_HEAD;
    const end = start + view.getUint32(at + 4, true);
    if (end > bytes.length) break;
    found.push({ type, start, end });
    if (type === "INDX") break;
    at = end;
  }
  return found;
}

/** Transforms of a column. */
const ASCENDING = 1;
const ZIGZAG = 2;
/** ZIGZAG after the value before the first row. */
const ZIGZAG_FROM = 3;

export function readSection(bytes: Bytes, schema: TableSchema[]): Section {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts = view.getUint32(0, true);
  const strings = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + texts))) as string[];
  let at = 4 + texts;
  const count = view.getUint32(at, true);
  at += 4;
  const tables = new Map<string, Rows>();
  for (let table = 0; table < count; table++) {
    const known = schema.find((each) => each.id === view.getUint16(at, true));
    const columns = view.getUint16(at + 2, true);
    const rows = view.getUint32(at + 4, true);
    at += 8;
    if (rows > MOST_ROWS) throw new Error(`a table has ${rows} rows, more than ${MOST_ROWS}`);
    const made: Rows = { rows, columns: new Map() };
    for (let column = 0; column < columns; column++) {
      const id = view.getUint16(at, true);
      const [transform, mask] = [bytes[at + 2], bytes[at + 3]];
      at += 4;
      const before = transform === ZIGZAG_FROM ? Number(view.getBigUint64(at, true)) : 0;
      if (transform === ZIGZAG_FROM) at += 8;
      const named = known?.columns.find((each) => each.id === id);
      const length = rows * bitCount(mask);
      if (at + length > bytes.length) throw new Error("a column is longer than its section");
      if (named !== undefined) {
        const planes = bytes.subarray(at, at + length);
        const values = named.type === "float" ? doubles(planes, mask, rows) : integers(planes, mask, rows, transform, before);
        made.columns.set(named.name, values);
      }
      at += length;
    }
    if (known !== undefined) tables.set(known.name, made);
  }
  return { strings, tables };
}

function bitCount(mask: number): number {
  let count = 0;
  for (let bit = 0; bit < 8; bit++) count += (mask >> bit) & 1;
  return count;
}

function integers(planes: Bytes, mask: number, rows: number, transform: number, before: number): Float64Array {
  const values = new Float64Array(rows);
  let plane = 0;
  for (let bit = 0; bit < 8; bit++) {
    if (((mask >> bit) & 1) === 0) continue;
    const weight = 256 ** bit;
    const from = plane * rows;
    for (let i = 0; i < rows; i++) values[i] += planes[from + i] * weight;
    plane++;
  }
  let sum = before;
  if (transform === ASCENDING) {
    for (let i = 0; i < rows; i++) values[i] = sum += values[i];
  } else if (transform === ZIGZAG || transform === ZIGZAG_FROM) {
    // Beyond 32 bits, so without bit operations.
    for (let i = 0; i < rows; i++) {
      const v = values[i];
      values[i] = sum += v % 2 === 0 ? v / 2 : -(v + 1) / 2;
    }
  } else if (transform !== 0) {
    throw new Error(`a column has the unknown transform ${transform}`);
  }
  return values;
}

function doubles(planes: Bytes, mask: number, rows: number): Float64Array {
  const bytes = new Uint8Array(8 * rows);
  let plane = 0;
  for (let bit = 0; bit < 8; bit++) {
    if (((mask >> bit) & 1) === 0) continue;
    const from = plane * rows;
    for (let i = 0; i < rows; i++) bytes[8 * i + bit] = planes[from + i];
    plane++;
  }
  return new Float64Array(bytes.buffer);
}
