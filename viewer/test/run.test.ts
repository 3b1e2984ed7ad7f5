import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE, Run, type RunNote } from "../src/model";
import type { Block, Recording, Rows } from "../src/recording";

const NODES = 3;
const ROUTE = 5;
const BLOCKS = 6;
const PER_BLOCK = 4;
const note: RunNote = { name: "run", summary: [], facts: [], queueLimit: 0, missing: [] };

function rows(columns: Record<string, number[]>): Rows {
  const made = Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)] as const);
  return { rows: made[0][1].length, columns: new Map(made) };
}

/** Event number `i` is at `10 * i` ns: node `i % 3` has another next hop to node 0. */
function recording(): { recording: Recording; read: number[] } {
  const read: number[] = [];
  const nextHop = (i: number): number => (i % 4) - 1;
  const block = (number: number): Block => {
    const events = Array.from({ length: PER_BLOCK }, (_, i) => number * PER_BLOCK + i);
    // What was so before the block: of each node the last change.
    const known = [0, 1, 2].map((node) => Array.from({ length: number * PER_BLOCK }, (_, i) => i).filter((i) => i % NODES === node).at(-1));
    const at = known.flatMap((i, node) => (i === undefined || nextHop(i) < 0 ? [] : [[node, nextHop(i)]]));
    const tables = new Map([
      ["event", rows({ time: events.map((i) => 10 * i), kind: events.map(() => ROUTE), node: events.map((i) => i % NODES) })],
      ["route", rows({ dst: events.map(() => 2), next_hop: events.map((i) => (nextHop(i) < 0 ? 0 : nextHop(i) + 2)), hops: events.map(() => 2) })],
      ["at-route", rows({ node: at.map(([node]) => node), dst: at.map(() => 2), next_hop: at.map(([, next]) => next + 2), hops: at.map(() => 2) })],
    ]);
    return { firstFrame: 0, events: PER_BLOCK, frames: 0, section: { strings: [""], tables } };
  };
  const starts = Array.from({ length: BLOCKS }, (_, i) => 10 * PER_BLOCK * i);
  const made = {
    head: {
      nodes: NODES, duration_s: 1e-6, receive_range_m: [], sense_range_m: 0, flows: [], destinations: [0],
      tables: [{ id: ROUTE, name: "route", columns: [] }],
    },
    moving: { points: rows({ node: [], time: [], x: [], y: [] }), heights: rows({ node: [] }), presence: rows({ node: [] }) },
    blocks: BLOCKS,
    blockStart: (i: number) => starts[i],
    blockAt: (t: number) => Math.max(0, starts.filter((each) => each <= t).length - 1),
    block: async (i: number) => {
      read.push(i);
      return block(i);
    },
  };
  return { recording: made as unknown as Recording, read };
}

test("what is around a moment is read first, and shows the same as when all has been read", async () => {
  const whole = recording();
  const complete = new Run(whole.recording, note);
  while (await complete.readNext(0));
  assert.deepEqual(whole.read, [0, 1, 2, 3, 4, 5]);
  assert.equal(complete.events, BLOCKS * PER_BLOCK);

  const { recording: same, read } = recording();
  const run = new Run(same, note);
  await run.readNext(0);
  const t = 10 * PER_BLOCK * 4 + 15;
  assert.ok(run.hasRead(10) && !run.hasRead(t));
  while (!run.hasRead(t)) await run.readNext(t);
  assert.deepEqual(read, [0, 3, 4]);
  run.turnTo(t);
  assert.deepEqual([run.readFrom, run.readUpTo], [120, 190]);
  assert.deepEqual(run.nextHops(0, t), complete.nextHops(0, t));
  assert.ok(run.nextHops(0, t).some((each) => each !== NONE));
  // Back to where reading began: that part is still there.
  const before = run.version;
  run.turnTo(10);
  assert.notEqual(run.version, before);
  assert.deepEqual([run.readFrom, run.events], [0, PER_BLOCK]);
  // Then the block after it, and all the others.
  while (await run.readNext(t));
  assert.deepEqual(read, [0, 3, 4, 5, 1, 2, 3, 4, 5]);
  run.turnTo(t);
  assert.ok(run.isComplete);
  assert.deepEqual([run.events, run.readFrom, run.readUpTo], [BLOCKS * PER_BLOCK, 0, 1000]);
  for (let at = 0; at < 250; at += 5) assert.deepEqual(run.nextHops(0, at), complete.nextHops(0, at));
});

test("another moment is read at once, too", async () => {
  const { recording: made, read } = recording();
  const run = new Run(made, note);
  await run.readNext(200);
  await run.readNext(200);
  assert.deepEqual(read, [4, 5]);
  await run.readNext(100);
  await run.readNext(100);
  assert.deepEqual(read, [4, 5, 1, 2]);
  assert.ok(run.hasRead(100) && !run.hasRead(200));
});

test("every step of a packet is kept, however many kinds of steps a block has", async () => {
  const kinds = ["made", "sent", "delivered", "dropped"];
  const each = 300;
  const { recording: made } = recording();
  const ids = kinds.map((_, i) => 20 + i);
  const tables = new Map([
    ["event", rows({
      time: Array.from({ length: each * kinds.length }, (_, i) => 1000 + i),
      kind: Array.from({ length: each * kinds.length }, (_, i) => ids[i % kinds.length]),
      node: Array.from({ length: each * kinds.length }, () => 1),
    })],
    ["packet", rows({ what: [1], src: [2], dst: [3], bytes: [100], cause: [0], flow: [0] })],
    ...kinds.map((name) => [name, rows({
      packet: Array(each).fill(0), uid: Array.from({ length: each }, (_, i) => i), ttl: Array(each).fill(9),
      next_hop: Array(each).fill(3), reason: Array(each).fill(0), number: Array(each).fill(1),
    })] as const),
  ]);
  Object.assign(made.head, { tables: kinds.map((name, i) => ({ id: ids[i], name, columns: [] })) });
  Object.assign(made, { blocks: 1, block: async () => ({ firstFrame: 0, events: 1200, frames: 0, section: { strings: ["", "cbr"], tables } }) });
  const run = new Run(made, note);
  await run.readNext(0);
  const { t, node, uid, step } = run.hops.columns;
  assert.equal(run.hops.length, each * kinds.length);
  for (let row = 0; row < run.hops.length; row++) {
    assert.deepEqual([t[row], node[row], uid[row]], [1000 + row, 1, Math.floor(row / kinds.length)]);
  }
  assert.deepEqual(new Set(step.subarray(0, run.hops.length)), new Set([0, 1, 2, 5]));
});

test("a loss is a drop of a packet that does not arrive, and not of a copy or at the edge of a ring", async () => {
  const { recording: made } = recording();
  const strings = ["", "cbr", "rreq", "duplicate", "ttl-expired", "no-route", "already-seen"];
  // Of each drop: its packet (0: of the flow, 1: of routing), the packet's number, the reason.
  const drops = [[0, 1, 5], [0, 2, 3], [1, 3, 4], [1, 4, 5], [0, 5, 4], [0, 6, 5], [0, 7, 6]];
  const columns = (each: number[][]): Rows =>
    rows({ packet: each.map(([packet]) => packet), uid: each.map(([, uid]) => uid), ttl: each.map(() => 1), next_hop: each.map(() => 0),
      reason: each.map(([, , reason]) => reason), number: each.map(() => 0) });
  const tables = new Map([
    ["event", rows({ time: [...drops, 0].map((_, i) => 1000 + i), kind: [...drops.map(() => 20), 21], node: [...drops, 0].map(() => 1) })],
    ["packet", rows({ what: [1, 2], src: [2, 2], dst: [3, 1], bytes: [100, 50], cause: [0, 0], flow: [1, 0] })],
    ["dropped", columns(drops)],
    // Another copy of packet 6 arrives afterwards.
    ["delivered", columns([[0, 6, 0]])],
  ]);
  Object.assign(made.head, { tables: [{ id: 20, name: "dropped", columns: [] }, { id: 21, name: "delivered", columns: [] }] });
  Object.assign(made, { blocks: 1, block: async () => ({ firstFrame: 0, events: 8, frames: 0, section: { strings, tables } }) });
  const run = new Run(made, note);
  await run.readNext(0);
  const lost = Array.from({ length: run.hops.length }, (_, row) => row).filter((row) => run.isLoss(row));
  assert.deepEqual(lost.map((row) => run.hops.columns.uid[row]), [1, 4, 5]);
});
