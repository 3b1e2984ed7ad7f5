import assert from "node:assert/strict";
import { test } from "node:test";
import { type Control, literal, patchOf, shownValue, valueAfter } from "../src/controls";
import { asMade, differences, type LiveData, refusal, requestOf } from "../src/requests";

const window: Control = {
  name: "tcp.window", label: "Window", unit: "segment", kind: "integer", choices: [], range: [1, 65536], above: false,
  value: "20", path: ["params", "tcp", "window"], wrong: "tcp.window: found {found}", meaning: "",
};
const rate: Control = { ...window, name: "mac.data_rate_bps", label: "Rate", unit: "bit/s", kind: "number", range: [0, 1e9], above: true, value: "2000000.0" };
const policy: Control = { ...window, name: "tcp.policy", kind: "choice", choices: ["fixed", "aarf"], range: null, value: '"fixed"' };

const data: LiveData = {
  toml: "", where: "test.toml", keys: [], parameters: {}, fixed: [], times: {}, flowFields: {}, spacings: {}, isEditorOpen: false,
  scenario: "{}", movement: "own", seed: "1", isStatic: true, isNamed: true,
  routings: [{ name: "aodv", patch: "{}" }],
  senders: [{ name: "reno", patch: "{}" }, { name: "small", patch: '{"params":{"tcp":{"window":4}}}' }],
  pairs: {}, draws: [], controls: [window], refused: { "0": "too short" },
  listed: [{ name: "movement.chain.nodes", label: "Nodes", unit: "", options: ["1", "2", "3"], own: 1 }],
  variants: { "2": { patch: '{"flows":[]}', movement: 0 } }, movements: ["longer"],
};

test("what is typed becomes JSON, or nothing if the control cannot have it", () => {
  assert.deepEqual(["7", " 65536 ", "+1"].map((each) => literal(window, each)), ["7", "65536", "1"]);
  for (const wrong of ["", "0", "65537", "1.5", "1e2", "NaN", "0x10", "-1", "7;", "99999999999999999999"]) assert.equal(literal(window, wrong), undefined, wrong);
  assert.deepEqual(["11e6", "5.5E6", ".5", "1e9"].map((each) => literal(rate, each)), ["11000000", "5500000", "0.5", "1000000000"]);
  for (const wrong of ["0", "−1", "1e10", "Infinity", "1_000", "1,5"]) assert.equal(literal(rate, wrong), undefined, wrong);
  assert.deepEqual([literal(policy, "aarf"), literal(policy, "arf"), literal({ ...policy, kind: "boolean" }, "true")], ['"aarf"', undefined, "true"]);
});

test("values are shown as people write them", () => {
  assert.deepEqual([shownValue(rate, rate.value), shownValue(window, "20"), shownValue(policy, '"fixed"')], ["2000000", "20", "fixed"]);
});

test("a value's patch names its place, and patches say what a control has", () => {
  assert.equal(patchOf(window, "7"), '{"params":{"tcp":{"window":7}}}');
  assert.equal(valueAfter(window, ["{}", '{"params":{"tcp":{"window":4}}}', '{"params":{"mac":{}}}']), "4");
  assert.equal(valueAfter(window, ["{}"]), "20");
});

test("controls come last, and listed choices bring their movement", () => {
  const chosen = { ...asMade(data), sender: 1, values: new Map([[0, "7"]]), options: [2] };
  const request = JSON.parse(requestOf(data, chosen, true)) as { movement: string; changes: object[] };
  assert.equal(request.movement, "longer");
  assert.deepEqual(request.changes.slice(2), [{ params: { tcp: { window: 4 } } }, { flows: [] }, { params: { tcp: { window: 7 } } }]);
  assert.deepEqual(differences(data, chosen).slice(1), [["Nodes 2", "Nodes 3"], ["Window 20 segment", "Window 7 segment"]]);
});

test("what the page does not hold is refused in words", () => {
  assert.equal(refusal(data, asMade(data)), undefined);
  assert.equal(refusal(data, { ...asMade(data), options: [2] }), undefined);
  assert.equal(refusal(data, { ...asMade(data), options: [0] }), "too short");
});
