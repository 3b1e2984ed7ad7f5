import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chart, csvOf, Frame, svgOf, ticks, valueAt } from "../src/chart";

const chart: Chart = {
  title: "Window <of> \"flow\" & 0", quantity: "window (segments)", from: 0, to: 10e9, end: 10e9, fromZero: true,
  curves: [{ run: 'a, "b"', name: "window", color: "data", t: [1e9, 2.5e9, 4e9], v: [1, 20, 0] }],
};
const svg = (of: Chart): string => svgOf(new Frame(of, 800, 400), (name) => name, '"A Font", sans-serif');

test("ticks are round, reach both ends, and have no tails of digits", () => {
  assert.deepEqual(ticks(0, 25, 6), [0, 5, 10, 15, 20, 25]);
  assert.deepEqual(ticks(0.1, 0.4, 3), [0.1, 0.2, 0.3, 0.4]);
  assert.deepEqual(ticks(3, 3.5, 5), [3, 3.1, 3.2, 3.3, 3.4, 3.5]);
});

test("the axis begins at zero and holds the largest value", () => {
  const frame = new Frame(chart, 800, 400);
  assert.deepEqual([frame.low, frame.high], [0, 20]);
  assert.deepEqual([frame.y(0), frame.x(0), frame.x(10e9)], [frame.bottom, frame.left, frame.right]);
  assert.equal(Math.round(frame.time(frame.x(4e9))), 4e9);
  // Only what is shown counts, and the value that holds when it begins.
  const later = new Frame({ ...chart, from: 5e9 }, 800, 400);
  assert.deepEqual([later.low, later.high], [0, 1]);
});

test("a chart has its axes, units and curves, and no text becomes an element", () => {
  const made = svg(chart);
  for (const part of ["time (s)", "window (segments)", "Window &lt;of&gt; &quot;flow&quot; &amp; 0", 'stroke="data"']) assert.ok(made.includes(part), part);
  const opened = made.match(/<(?!\/)[a-zA-Z]+/g) ?? [];
  assert.deepEqual([...new Set(opened)].sort(), ["<clipPath", "<g", "<path", "<rect", "<svg", "<text"]);
});

test("a hundred thousand values become a short path that still shows the extremes", () => {
  const t = Array.from({ length: 100_000 }, (_, i) => i * 1e5);
  const v = t.map((_, i) => (i === 54_321 ? 1000 : i % 2));
  const many = { ...chart, curves: [{ ...chart.curves[0], t, v }] };
  const made = svg(many);
  assert.ok(made.length < 150_000, String(made.length));
  const top = new Frame(many, 800, 400).y(1000).toFixed(1);
  assert.ok(made.includes(`V${top}`));
});

test("a CSV has every value, exact to the nanosecond, and quotes what must be", () => {
  const exact = { ...chart, curves: [{ ...chart.curves[0], t: [1_000_000_001], v: [0.1] }] };
  assert.equal(csvOf(exact), 'time_s,run,curve,window (segments)\r\n1.000000001,"a, ""b""",window,0.1\r\n');
});

test("the value at a time is the last one, or the nearest point", () => {
  const [curve] = chart.curves;
  assert.deepEqual([0.5e9, 1e9, 2.4e9, 9e9].map((t) => valueAt(curve, t)), [undefined, 1, 1, 0]);
  assert.deepEqual([0, 2e9, 1.5e9].map((t) => valueAt({ ...curve, isPoints: true }, t)), [1, 20, 1]);
});
