import assert from "node:assert/strict";
import { test } from "node:test";
import { Movement } from "../src/movement";
import type { Rows } from "../src/recording";

const times = Float64Array.from([0, 10, 20, 0, 5, 5]);
const xs = Float64Array.from([0, 100, 100, 7, 7, 9]);
const ys = Float64Array.from([0, 0, 50, 8, 8, 8]);
const movement = (): Movement => new Movement(3, [0, 0, 0, 1, 1, 1], times, xs, ys);

test("nodes go straight between waypoints and stand before and after", () => {
  const found = movement();
  for (const [t, x, y] of [
    [0, 0, 0],
    [5, 50, 0],
    [10, 100, 0],
    [12, 100, 10],
    [99, 100, 50],
  ]) {
    assert.deepEqual(found.position(0, t), [x, y]);
    found.moveTo(t);
    assert.deepEqual([found.x[0], found.y[0]], [x, y]);
  }
});

test("two waypoints of one time are a jump", () => {
  assert.deepEqual(movement().position(1, 4.9), [7, 8]);
  assert.deepEqual(movement().position(1, 5), [9, 8]);
});

test("a node without waypoints stands at the origin, and time may go back", () => {
  const found = movement();
  found.moveTo(15);
  found.moveTo(2.5);
  assert.deepEqual([...found.x], [25, 7, 0]);
});

test("heights change evenly, and nodes are there between joining and leaving", () => {
  const rows = (columns: Record<string, number[]>): Rows => ({
    rows: columns["node"].length,
    columns: new Map(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)])),
  });
  const heights = rows({ node: [1, 1, 1], time: [5, 15, 15.5], z: [10, 30, 0] });
  const presence = rows({ node: [0, 0, 2], from: [2, 8, 0], until: [4, 9, 1] });
  const found = new Movement(3, [0, 0, 0, 1, 1, 1], times, xs, ys, heights, presence);
  assert.deepEqual([0, 5, 10, 15, 99].map((t) => found.height(1, t)), [10, 10, 20, 30, 0]);
  assert.equal(found.height(0, 7), 0);
  assert.equal(movement().height(1, 7), undefined);
  assert.deepEqual([1, 2, 3, 4, 8, 9].map((t) => found.isPresent(0, t)), [false, true, true, false, true, false]);
  assert.deepEqual([found.isPresent(1, 50), found.isPresent(2, 0), found.isPresent(2, 1), movement().isPresent(0, 1)], [true, true, false, true]);
});
