import assert from "node:assert/strict";
import { test } from "node:test";
import { checkedHead, checkedMovement } from "../src/head";
import type { Moving, Rows } from "../src/recording";

const GOOD = {
  nodes: 3, duration_s: 5, sense_range_m: 550, bounds_m: [0, 0, 100, 100], receive_range_m: [{ rate_bps: 2e6, range_m: 250 }],
  flows: [{ id: 0, kind: "cbr", src: 0, dst: 2, start_s: 0.5 }], destinations: [2],
  tables: [{ id: 1, name: "event", columns: [{ id: 0, name: "time", type: "time" }] }],
};
const HOSTILE = [undefined, true, -1, 1e308, -1e308, 1e12, Number.NaN, Infinity, "x", [99999], {}, [null], [1e308, 0, 1, 1], [5, 5, 1, 1]];

test("a head as runs write it is read, with or without bounds", () => {
  assert.equal(checkedHead(GOOD), GOOD);
  assert.ok(checkedHead({ ...GOOD, bounds_m: null }));
});

test("a head that says what cannot be is refused in words, whatever it says", () => {
  const needed = Object.keys(GOOD).filter((each) => each !== "bounds_m" && each !== "sense_range_m");
  for (const key of Object.keys(GOOD)) {
    for (const value of HOSTILE) {
      if (value === undefined && !needed.includes(key)) continue;
      if (value === true || JSON.stringify(value) === "[]") continue;
      if (key === "sense_range_m" && value === -1) continue;
      assert.throws(() => checkedHead({ ...GOOD, [key]: value }), new RegExp(`${key} must be`), `${key}: ${String(value)}`);
    }
  }
  for (const head of [null, 1, "x", []]) assert.throws(() => checkedHead(head), /must be a table/);
  const [flow] = GOOD.flows;
  for (const changes of [{ id: 4e9 }, { src: 3 }, { dst: -1 }, { start_s: Number.NaN }, { kind: 1 }]) {
    assert.throws(() => checkedHead({ ...GOOD, flows: [{ ...flow, ...changes }] }), /flows must be/);
  }
});

test("walls have corners", () => {
  assert.ok(checkedHead({ ...GOOD, walls: [{ points: [[0, 0], [5, 5]], building: false, opaque: true }] }));
  for (const walls of [1, [1], [{}], [{ points: [[0]] }], [{ points: [[0, Number.NaN]] }], [{ points: [[0, 1e308]] }]]) {
    assert.throws(() => checkedHead({ ...GOOD, walls }), /walls must be/, JSON.stringify(walls));
  }
});

test("names are one for each node", () => {
  const labels = ["ann", "bob", "车 3"];
  assert.deepEqual(checkedHead({ ...GOOD, labels }).labels, labels);
  for (const wrong of [null, "ann", ["ann"], ["ann", "bob", 3], ["ann", "bob", "x".repeat(1001)]]) {
    assert.throws(() => checkedHead({ ...GOOD, labels: wrong }), /labels must be/);
  }
});

test("places and times that cannot be are refused", () => {
  type Columns = Record<string, number>;
  const rows = (columns: Columns): Rows => ({
    rows: 1,
    columns: new Map(Object.entries(columns).map(([name, value]) => [name, Float64Array.of(value)])),
  });
  const moving = (points: Columns, heights: Columns = {}, presence: Columns = {}): Moving => ({
    points: rows({ node: 0, time: 0, x: 1, y: 1, ...points }),
    heights: rows({ node: 2, time: 5, z: -3, ...heights }),
    presence: rows({ node: 1, from: 0, until: 2 ** 63, ...presence }),
  });
  assert.equal(checkedMovement(moving({}), 3).points.rows, 1);
  assert.equal(checkedMovement(moving({ time: 1.3e15 }), 3).points.rows, 1, "a node that creeps arrives weeks later");
  const wrong = [["node", 3], ["node", 0.5], ["time", -1], ["time", Infinity], ["x", 1e308], ["y", Number.NaN]] as const;
  for (const [name, value] of wrong) assert.throws(() => checkedMovement(moving({ [name]: value }), 3), /movement cannot be used/);
  for (const change of [{ node: 3 }, { time: -1 }, { z: Number.NaN }]) assert.throws(() => checkedMovement(moving({}, change), 3), /cannot be used/);
  for (const change of [{ node: 3 }, { from: -1 }, { until: Number.NaN }]) assert.throws(() => checkedMovement(moving({}, {}, change), 3), /cannot be used/);
});
