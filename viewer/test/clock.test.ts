import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, linkTime, parseTime, readLink, speedAt, speedText, STOPS, stopOf, timeText } from "../src/clock";
import { State } from "../src/state";

test("speeds go from a microsecond to a hundred seconds a second", () => {
  assert.equal(speedAt(0), 1e-6);
  assert.equal(speedAt(STOPS), 100);
  assert.deepEqual([0, 1, 2, 3].map(speedAt), [1e-6, 2e-6, 5e-6, 1e-5]);
  for (let stop = 0; stop <= STOPS; stop++) assert.equal(stopOf(speedAt(stop)), stop);
});

test("speeds read as people say them", () => {
  assert.deepEqual([1e-6, 2e-5, 0.001, 0.05, 0.1, 1, 100].map(speedText), [
    "1 µs/s",
    "20 µs/s",
    "1 ms/s",
    "50 ms/s",
    "0.1×",
    "1×",
    "100×",
  ]);
});

test("a link holds a time to the nanosecond", () => {
  for (const t of [0, 1, 70_088_201_233, 999_999_999_999]) assert.equal(parseTime(linkTime(t)), t);
  assert.equal(linkTime(5e9), "5");
  assert.equal(linkTime(5_000_000_100), "5.0000001");
  assert.equal(parseTime(timeText(70_088_201_233)), 70_088_201_233);
  assert.deepEqual([..."a;-1;1e9;;1.2.3;1,5".split(";").map(parseTime)], Array(6).fill(undefined));
  assert.equal(readLink("#t=1.5&node=3").get("node"), "3");
});

test("the clock stops at the end, and starts again from the beginning", () => {
  const clock = new Clock(10e9);
  clock.play();
  clock.speed = 2;
  clock.advance(1);
  assert.equal(clock.t, 2e9);
  clock.advance(100);
  assert.deepEqual([clock.t, clock.isPlaying], [10e9, false]);
  clock.play();
  assert.deepEqual([clock.t, clock.isPlaying], [0, true]);
});

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
