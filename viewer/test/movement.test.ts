import assert from "node:assert/strict";
import { test } from "node:test";
import { Movement } from "../src/movement";

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
