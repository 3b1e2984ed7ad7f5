import assert from "node:assert/strict";
import { test } from "node:test";
import { asMade, changesOf, differences, type LiveData, parseSeed, requestOf } from "../src/requests";

const data: LiveData = {
  toml: "", where: "test.toml", keys: [], parameters: {}, fixed: [], times: {}, flowFields: {}, spacings: {}, isEditorOpen: false,
  scenario: '{"seed":18446744073709551615,"routing":"aodv"}',
  movement: "$node_(0) set X_ 1.0\n",
  routings: [{ name: "aodv", patch: "{}" }, { name: "dsr", patch: '{"routing":"dsr"}' }],
  senders: [{ name: "reno", patch: "{}" }, { name: "vegas", patch: '{"params":{"tcp":{"variant":"vegas"}}}' }],
  pairs: {},
  draws: [],
  controls: [],
  listed: [],
  isNamed: false,
  variants: {},
  refused: {},
  movements: [],
  seed: "18446744073709551615",
  isStatic: true,
};

test("seeds keep all their digits", () => {
  assert.equal(parseSeed(" 18446744073709551615 "), "18446744073709551615");
  assert.equal(parseSeed("007"), "7");
  for (const wrong of ["18446744073709551616", "-1", "1.5", "1e3", "", "0x10"]) assert.equal(parseSeed(wrong), undefined);
  const text = requestOf(data, { ...asMade(data), seed: "9007199254740993" }, true);
  assert.ok(text.includes('"scenario":{"seed":18446744073709551615,') && text.includes('{"seed":9007199254740993}'));
});

test("a request names the choices in order, and a pair in place of its parts", () => {
  const chosen = { ...asMade(data), routing: 1, sender: 1, moved: new Map([[0, [1.5, -2] as [number, number]]]) };
  const request = JSON.parse(requestOf(data, chosen, false)) as { changes: object[]; moved: number[][]; record: boolean };
  assert.deepEqual(request.changes.slice(1), [{ routing: "dsr" }, { params: { tcp: { variant: "vegas" } } }]);
  assert.deepEqual([request.moved, request.record], [[[0, 1.5, -2]], false]);
  const paired = JSON.parse(requestOf({ ...data, pairs: { "1 1": '{"routing":"x"}' } }, chosen, false)) as { changes: object[] };
  assert.deepEqual(paired.changes.slice(1), [{ routing: "x" }]);
});

test("what Python made of a text is run as it is, with what is changed beside it", () => {
  const resolved = { scenario: '{"seed":18446744073709551614}', movement: "$m", beside: "[{}]" };
  const edit = { text: "t", patches: [], names: [], routing: 1, seed: "5", resolved };
  const chosen = { ...asMade(data), edit, routing: 1, seed: "5", moved: new Map([[0, [1, 2] as [number, number]]]) };
  const text = requestOf(data, chosen, true);
  assert.equal(text, '{"scenario":{"seed":18446744073709551614},"movement":"$m","beside":[{}],"changes":[],"moved":[[0,1,2]],"record":true}');
  assert.ok(requestOf(data, { ...chosen, resolved: { ...resolved, beside: "null" } }, true).includes('"beside":null'));
  assert.equal(changesOf(data, chosen), undefined);
  assert.deepEqual(changesOf(data, { ...chosen, routing: 0, seed: "6", sender: 1 }), { routing: "aodv", seed: "6", sender: "vegas" });
  // Without a text, Python is needed only for draws that the page does not hold.
  assert.equal(changesOf(data, { ...asMade(data), seed: "6" }), undefined);
  const drawn = { ...data, seed: "1", draws: [{ name: "1", patch: "{}", movement: "m" }] };
  assert.equal(changesOf(drawn, { ...asMade(drawn), routing: 1 }), undefined);
  assert.deepEqual(changesOf(drawn, { ...asMade(drawn), seed: "9" }), { seed: "9" });
});

test("another draw brings its own movement", () => {
  const drawn = { ...data, draws: [{ name: "5", patch: '{"seed":5}', movement: "other" }] };
  const request = JSON.parse(requestOf(drawn, { ...asMade(drawn), seed: "5" }, true)) as { movement: string; changes: object[] };
  assert.deepEqual([request.movement, request.changes[0]], ["other", { seed: 5 }]);
});

test("differences are said in words", () => {
  const chosen = { ...asMade(data), routing: 1, moved: new Map([[3, [1, 0] as [number, number]], [1, [0, 2] as [number, number]]]) };
  assert.deepEqual(differences(data, chosen), [["aodv", "dsr"], ["", "nodes 1, 3 moved"]]);
  assert.deepEqual(differences(data, asMade(data)), []);
});
