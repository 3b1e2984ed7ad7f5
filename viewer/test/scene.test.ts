import assert from "node:assert/strict";
import { test } from "node:test";
import { everything, Filtered } from "../src/filters";
import { NONE, Run, type RunNote } from "../src/model";
import type { Recording } from "../src/recording";
import { BAR, Batch, DISC, type Look, Scene } from "../src/scene";
import { LIGHT, rgba, withOpacity } from "../src/theme";

const [DATA, AIR] = [0, 100];
const note: RunNote = { name: "run", summary: [], facts: [], queueLimit: 10, missing: [] };

/** Four nodes, 100 m apart, of which 0 sends to 1 from 1000 to 1100 ns, and 2 to 3 from 1050 to 1150 ns. */
function run(away: [number, number][] = [], of: object = {}): Run {
  const nodes = 4;
  const columns = { node: [0, 1, 2, 3], time: [0, 0, 0, 0], x: [0, 100, 200, 300], y: [0, 0, 0, 0] };
  const points = new Map(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)]));
  const recording = {
    head: { nodes, duration_s: 1e-5, receive_range_m: [{ range_m: 150 }], sense_range_m: 300, flows: [], destinations: [], tables: [], ...of },
    moving: {
      points: { rows: nodes, columns: points },
      heights: { rows: 0, columns: new Map() },
      presence: {
        rows: away.length,
        columns: new Map(Object.entries({ node: away.map(([node]) => node), from: away.map(() => 0), until: away.map(([, until]) => until) })
          .map(([name, values]) => [name, Float64Array.from(values)] as const)),
      },
    },
    blocks: 0,
    blockStart: () => 0,
    blockAt: () => 0,
  };
  const made = new Run(recording as unknown as Recording, note);
  const { frames } = made;
  frames.length = 2;
  for (const [row, [t, node, to]] of [[1000, 0, 1], [1050, 2, 3]].entries()) {
    [frames.columns.t[row], frames.columns.node[row], frames.columns.to[row]] = [t, node, to];
    [frames.columns.air[row], frames.columns.carries[row], frames.columns.packet[row]] = [AIR, DATA, NONE];
  }
  (made as unknown as { whole: { longestAir: number } }).whole.longestAir = AIR;
  return made;
}

function look(t: number, changes: Partial<Look> = {}): Look {
  return {
    t, speed: 0, isExact: true, scale: 1, theme: LIGHT, nodeSize: 6, hovered: NONE, selected: NONE, destination: NONE, packet: NONE,
    path: [], ends: new Map(), shows: { drops: false, routes: false, queues: true, links: false }, ...changes,
  };
}

function scene(shown: Run, seen: Look, filter = everything()): Scene {
  const [filtered, made] = [new Filtered(shown), new Scene()];
  filtered.apply(filter, 1);
  made.build(shown, filtered, seen);
  return made;
}

function rows(batch: Batch): { values: number[]; color: number }[] {
  return Array.from({ length: batch.count }, (_, row) => ({
    values: [...batch.floats.subarray(row * batch.stride, (row + 1) * batch.stride - 1)],
    color: batch.color(row),
  }));
}

test("walls are drawn, buildings closed, and ranges are no links where walls decide", () => {
  const points = [[0, 0], [10, 0], [10, 10]];
  const [wall, building] = [{ points, building: false, opaque: true }, { points, building: true, opaque: false }];
  const walled = run([], { walls: [wall, building], links_by_distance: false });
  const shows = { drops: false, routes: false, queues: false, links: true };
  const made = scene(walled, look(0, { shows }));
  const drawn = rows(made.lines).filter((line) => line.color === rgba(LIGHT.wall)).map((line) => line.values.slice(0, 5));
  assert.deepEqual(drawn, [[0, 0, 10, 0, 3], [10, 0, 10, 10, 3], [10, 10, 0, 0, Math.fround(1.6)], [0, 0, 10, 0, Math.fround(1.6)], [10, 0, 10, 10, Math.fround(1.6)]]);
  assert.equal(made.linksShown, 0);
  assert.equal(scene(run(), look(0, { shows })).linksShown, 3);
});

test("a frame is on the air from its first instant on, and no longer at its last", () => {
  const shown = run();
  assert.deepEqual([999, 1000, 1049, 1050, 1099, 1100, 1149, 1150].map((t) => shown.onAir(t)), [[], [0], [0], [0, 1], [0, 1], [1], [1], []]);
});

test("an exact picture has the rings and arrows of what is on the air, and nothing else", () => {
  const drawn = (t: number): number[] => {
    const made = scene(run(), look(t));
    return [made.framesShown, made.lines.count, new Set(rows(made.rings).map(({ values }) => values[0])).size];
  };
  assert.deepEqual([999, 1000, 1050, 1099, 1100, 1149, 1150].map(drawn), [0, 1, 2, 2, 1, 1, 0].map((n) => [n, n, n]));
});

test("at speed an arrow fades for 0.4 s, and is gone at its last instant", () => {
  // 0.4 s of the viewer's time are 400 ns.
  const speed = 1e-6;
  const arrows = (t: number): number => scene(run(), look(t, { isExact: false, speed })).lines.count;
  assert.deepEqual([1399, 1400, 1449, 1450].map(arrows), [2, 1, 1, 0]);
});

test("a queue's bar is filled by its share, and red above 80 %", () => {
  const bar = (length: number): unknown => {
    const shown = run();
    const { queues } = shown;
    queues.length = 1;
    [queues.columns.t[0], queues.columns.node[0], queues.columns.length[0]] = [0, 2, length];
    const found = rows(scene(shown, look(10)).marks).filter(({ values }) => values[3] === BAR);
    return found.map(({ values, color }) => [Math.round(100 * values[4]), color]);
  };
  const [calm, full] = [rgba(LIGHT.carries[0], 0.9), rgba(LIGHT.drop)];
  assert.notEqual(calm, full);
  assert.deepEqual(bar(0), []);
  assert.deepEqual([5, 6, 8, 9, 10, 11].map(bar), [[[50, calm]], [[60, calm]], [[80, calm]], [[90, full]], [[100, full]], [[100, full]]]);
});

test("a frame belongs to its sender and to its receiver", () => {
  const frames = (...nodes: number[]): number => scene(run(), look(1050), { ...everything(), nodes: new Set(nodes) }).framesShown;
  assert.deepEqual([frames(0), frames(1), frames(2), frames(3), frames(0, 3), frames()], [1, 1, 1, 1, 2, 0]);
});

test("a node that sends has the colour of what it sends", () => {
  const colors = rows(scene(run(), look(1120)).marks).filter(({ values }) => values[3] === 0).map(({ color }) => color);
  const [plain, sends] = [rgba(LIGHT.node), rgba(LIGHT.carries[DATA])];
  assert.deepEqual(colors, [plain, plain, sends, plain]);
  assert.notEqual(withOpacity(sends, 1), plain);
});

test("a node that is not there has no disc and no links", () => {
  const filtered = (of: Run): Filtered => {
    const made = new Filtered(of);
    made.apply(everything(), 0);
    return made;
  };
  const shown = (of: Run, t: number): [number, number] => {
    const scene = new Scene();
    scene.build(of, filtered(of), look(t, { shows: { drops: false, routes: false, queues: false, links: true } }));
    const shapes = Array.from({ length: scene.marks.count }, (_, i) => scene.marks.floats[6 * i + 3]);
    return [shapes.filter((each) => each === DISC).length, scene.linksShown];
  };
  assert.deepEqual(shown(run(), 2000), [4, 3]);
  assert.deepEqual(shown(run([[1, 1500]]), 2000), [3, 1]);
  assert.deepEqual(shown(run([[1, 1500]]), 10), [4, 3]);
});

test("a node is called by its name, in events too", () => {
  const named = run([], { labels: ["ann", "bob", "7", "car 3"] });
  assert.deepEqual([0, 3].map((node) => named.nodeName(node)), ["ann", "car 3"]);
  assert.equal(run().nodeName(3), "3");
});
