import assert from "node:assert/strict";
import { test } from "node:test";
import { Camera } from "../src/camera";
import { CORNER_WORDS, Edges } from "../src/edges";
import { parseNodes } from "../src/filters";
import { Groups } from "../src/groups";
import { firstAbove, firstFrom } from "../src/search";
import { Batch } from "../src/scene";
import { niceStep, shortened } from "../src/stage";
import { css, rgba, withOpacity } from "../src/theme";

test("the camera shows the whole field, and zooms around the pointer", () => {
  const camera = new Camera([0, 0, 1500, 300]);
  [camera.width, camera.height] = [900, 500];
  for (const [x, y] of [
    [0, 0],
    [1500, 300],
  ]) {
    const [sx, sy] = camera.toScreen(x, y);
    assert.ok(sx >= 0 && sx <= 900 && sy >= 0 && sy <= 500);
    assert.deepEqual(camera.toField(sx, sy).map(Math.round), [x, y]);
  }
  // North is up.
  assert.ok(camera.toScreen(0, 300)[1] < camera.toScreen(0, 0)[1]);
  const before = camera.toField(200, 100);
  camera.zoomAt(3, 200, 100);
  assert.deepEqual(camera.toField(200, 100).map((each) => each.toFixed(6)), before.map((each) => each.toFixed(6)));
  // Moved by pixels: what was under the pointer stays under it.
  camera.move(40, -25);
  assert.deepEqual(camera.toField(240, 75).map((each) => each.toFixed(6)), before.map((each) => each.toFixed(6)));
  camera.reset();
  assert.deepEqual(camera.toField(450, 250), [750, 150]);
});

test("clip space agrees with the screen", () => {
  const camera = new Camera([0, 0, 100, 100]);
  [camera.width, camera.height] = [640, 480];
  camera.zoomAt(2, 10, 20);
  const [ax, bx, ay, by] = camera.clip;
  const [sx, sy] = camera.toScreen(30, 70);
  assert.ok(Math.abs(((30 * ax + bx + 1) / 2) * 640 - sx) < 1e-9);
  assert.ok(Math.abs(((1 - (70 * ay + by)) / 2) * 480 - sy) < 1e-9);
});

test("lists of nodes", () => {
  assert.equal(parseNodes(" ", 5), null);
  assert.deepEqual(parseNodes("3, 0-1", 5), new Set([3, 0, 1]));
  // Names are told by commas; a number is a node's only where it is nobody's name.
  const labels = ["car 7", "1", "0", "bob", "x"];
  assert.deepEqual(parseNodes("car 7, bob", 5, labels), new Set([0, 3]));
  assert.deepEqual(parseNodes("0, 1,4", 5, labels), new Set([2, 1, 4]));
  assert.match(String(parseNodes("car 8", 5, labels)), /“car 8” is not a node. Write, for example, car 7, 1/);
  for (const wrong of ["a", "2-1", "5", "-1", "1e9"]) assert.equal(typeof parseNodes(wrong, 5), "string");
});

test("the last row before a time", () => {
  const times = [1, 2, 2, 5, 9];
  const keys = [0, 1, 0, 0, -1];
  const groups = new Groups(2, 5, (row) => keys[row], times);
  assert.deepEqual([0, 1, 2, 4, 5, 99].map((t) => groups.at(0, t)), [-1, 0, 2, 2, 3, 3]);
  assert.deepEqual([...groups.of(1)], [1]);
  assert.deepEqual([firstAbove(times, 2), firstFrom(times, 2), firstAbove(times, 99)], [3, 1, 5]);
});

test("round steps", () => {
  assert.deepEqual([0.7, 1, 1.1, 21, 600].map(niceStep), [1, 1, 2, 50, 1000]);
});

test("colours keep their parts", () => {
  assert.equal(css(rgba("#0072b2")), "rgba(0, 114, 178, 1)");
  assert.equal(css(withOpacity(rgba("#ff8a4c"), 0)), "rgba(255, 138, 76, 0)");
});

test("rings and lines are corners on both sides of them, joined by nothing", () => {
  const camera = new Camera([0, 0, 100, 100]);
  [camera.width, camera.height] = [500, 500];
  const [rings, lines, edges] = [new Batch(5), new Batch(7), new Edges()];
  rings.add(0xff0000ff, 50, 50, 20, 2);
  lines.add(0xff00ff00, 0, 50, 100, 50, 4, 3);
  // Far outside of the picture: not drawn.
  rings.add(0xff0000ff, 5000, 50, 20, 2);
  edges.build(rings, lines, camera);
  const colors = new Uint32Array(edges.floats.buffer);
  const corners = Array.from({ length: edges.count }, (_, i) => {
    const [x, y, side, half] = edges.floats.subarray(i * CORNER_WORDS);
    return { x, y, side, half, color: colors[i * CORNER_WORDS + 4] };
  });
  const area = (i: number): number => {
    const [a, b, c] = corners.slice(i, i + 3);
    return Math.abs((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)) / 2;
  };
  const triangles = corners.slice(2).map((_, i) => ({ area: area(i), colors: new Set(corners.slice(i, i + 3).map((each) => each.color)) }));
  // No triangle that can be seen belongs to two shapes.
  for (const each of triangles) assert.ok(each.colors.size === 1 || each.area < 1e-6);
  const sum = (color: number): number =>
    triangles.filter((each) => each.colors.has(color)).reduce((all, each) => all + each.area, 0);
  const radius = 20 * camera.scale;
  for (const { x, y, side, half, color } of corners) {
    if (color !== 0xff0000ff) continue;
    assert.equal(half, 1);
    assert.ok(Math.abs(Math.hypot(x - 250, y - 250) - (radius + side)) < 1e-3);
  }
  // The ring with a pixel on each side to fade; the line without what is cut off.
  assert.ok(Math.abs(sum(0xff0000ff) / (2 * Math.PI * radius * 4) - 1) < 0.01);
  const length = 100 * camera.scale - 2 * 3;
  assert.ok(Math.abs(sum(0xff00ff00) - length * 6) < 0.1);
});

test("a name that is too long for the picture is cut", () => {
  assert.equal(shortened("Müller"), "Müller");
  assert.equal(shortened("a".repeat(18)), "a".repeat(18));
  assert.equal(shortened("a".repeat(19)), `${"a".repeat(17)}…`);
});
