import assert from "node:assert/strict";
import { test } from "node:test";
import { address, optional, readSection, Recording } from "../src/recording";

/** A section with one table of `count` rows: columns as id, transform, mask and planes. */
function section(rows: number, columns: [number, number, number, number[]][], strings = ["", "data"]): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(strings));
  const u16 = (n: number): number[] => [n & 255, n >> 8];
  const u32 = (n: number): number[] => [...u16(n & 65535), ...u16(n >>> 16)];
  const parts = [...u32(text.length), ...text, ...u32(1), ...u16(7), ...u16(columns.length), ...u32(rows)];
  for (const [id, transform, mask, planes] of columns) parts.push(...u16(id), transform, mask, ...planes);
  return Uint8Array.from(parts);
}

const schema = [
  {
    id: 7,
    name: "things",
    columns: [
      { id: 0, name: "plain", type: "uint" as const },
      { id: 1, name: "rising", type: "time" as const },
      { id: 2, name: "signed", type: "uint" as const },
      { id: 3, name: "float", type: "float" as const },
      { id: 4, name: "zero", type: "uint" as const },
      { id: 5, name: "high", type: "uint" as const },
    ],
  },
];

test("byte planes become numbers, whatever the transform", () => {
  const float = new Uint8Array(new Float64Array([1.5, -2]).buffer);
  const planes = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) => [float[k], float[8 + k]]);
  const bytes = section(2, [
    // The second byte is the fifth of eight: 3 × 256⁴.
    [0, 0, 0b10001, [1, 2, 3, 0]],
    [1, 1, 1, [10, 5]],
    [2, 2, 1, [1, 4]],
    [3, 0, 255, planes],
    [4, 0, 0, []],
    // 256⁴ stands before the first row.
    [5, 3, 1, [0, 0, 0, 0, 1, 0, 0, 0, 0, 5]],
    [9, 3, 1, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
    [9, 0, 1, [0, 0]],
  ]);
  const { tables, strings } = readSection(bytes, schema);
  const things = tables.get("things");
  const values = (name: string): number[] => [...(things?.columns.get(name) ?? [])];
  assert.deepEqual(strings, ["", "data"]);
  assert.deepEqual(values("plain"), [1 + 3 * 256 ** 4, 2]);
  assert.deepEqual(values("rising"), [10, 15]);
  assert.deepEqual(values("signed"), [-1, 1]);
  assert.deepEqual(values("float"), [1.5, -2]);
  assert.deepEqual(values("zero"), [0, 0]);
  assert.deepEqual(values("high"), [256 ** 4, 256 ** 4 - 3]);
  assert.equal(things?.columns.size, 6);
});

test("tables and columns that are not known are passed over", () => {
  const { tables } = readSection(section(2, [[0, 0, 1, [1, 2]]]), []);
  assert.equal(tables.size, 0);
});

test("a column that is longer than its section is refused", () => {
  assert.throws(() => readSection(section(1000, [[0, 0, 255, [1]]]), schema), /longer/);
  assert.throws(() => readSection(section(1, [[0, 9, 1, [1]]]), schema), /transform 9/);
});

test("addresses and numbers that may be missing", () => {
  assert.deepEqual([0, 1, 2, 12].map(address), [-2, -1, 0, 10]);
  assert.deepEqual([0, 1].map(optional), [-1, 0]);
});

test("what is no recording is refused", async () => {
  await assert.rejects(Recording.open(new Uint8Array(64)), /not a recording/);
  const newer = new Uint8Array(64);
  newer.set([0x89, 0x4d, 0x4c, 0x52, 0x45, 0x43, 0x0d, 0x0a, 4]);
  await assert.rejects(Recording.open(newer), /version 4/);
  for (const known of [2, 3]) {
    newer[8] = known;
    await assert.rejects(Recording.open(newer), /no head/);
  }
});
