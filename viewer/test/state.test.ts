import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock } from "../src/clock";
import { State } from "../src/state";

test("who saw all of a run sees all of the one that takes its place", () => {
  for (const end of [50, 20, 5]) {
    const state = new State(new Clock(end));
    state.continue(new State(new Clock(20)));
    assert.deepEqual([state.from, state.to], [0, end]);
  }
});

test("who saw a part of a run sees that part of the one that takes its place, as far as there is one", () => {
  const seen = (end: number): [number, number] => {
    const before = new State(new Clock(20));
    [before.from, before.to] = [12, 18];
    const state = new State(new Clock(end));
    state.continue(before);
    return [state.from, state.to];
  };
  assert.deepEqual([seen(50), seen(20), seen(15), seen(5)], [[12, 18], [12, 18], [9, 15], [0, 5]]);
});
