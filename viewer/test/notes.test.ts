import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNote } from "../src/model";
import { noteFor } from "../src/notes";
import type { RecordingHead } from "../src/recording";
import { asMade, type Chosen, type LiveData } from "../src/requests";

const note: RunNote = {
  name: "run", summary: ["AODV (rfc)", "TCP Reno", "9 nodes", "20 s"], queueLimit: 50, missing: ["x"],
  facts: [["Routing", "AODV (rfc)"], ["Transport", "TCP Reno"], ["Profile", "rfc"], ["Nodes", "9"], ["Duration", "20 s"], ["Seed", "1"], ["Scenario", "abc"], ["Made by", "manetlab"]],
};
const data = { seed: "1", routings: [{ name: "aodv" }, { name: "dsr" }], senders: [{ name: "reno" }, { name: "vegas" }], listed: [], controls: [] } as unknown as LiveData;
const head = (nodes: number, duration_s: number, routing = "aodv"): RecordingHead => ({ nodes, duration_s, routing }) as RecordingHead;
const resolved = { scenario: "{}", movement: "", beside: "null" };
const noted = (chosen: Partial<Chosen>, is: RecordingHead): RunNote => noteFor(note, head(9, 20), data, { ...asMade(data), ...chosen }, is);

test("a run with another choice keeps what is said of the others", () => {
  const { facts, summary, missing, name } = noted({ routing: 1, seed: "7" }, head(9, 20, "dsr"));
  assert.deepEqual(facts, [["Routing", "DSR"], ["Transport", "TCP Reno"], ["Profile", "rfc"], ["Nodes", "9"], ["Duration", "20 s"], ["Seed", "7"], ["Made by", "this page"]]);
  assert.deepEqual([name, missing], ["dsr, seed 7", []]);
  assert.deepEqual(summary, ["TCP Reno", "9 nodes", "20 s"]);
});

test("of a run from a text its own recording says how many nodes it has, and how long it is", () => {
  const edit = { text: "", patches: [], names: [["", "2 changes in the text"]] as [string, string][], resolved, routing: 0, sender: 0 };
  const { facts, summary } = noted({ edit }, head(30, 100));
  assert.deepEqual(facts, [["Routing", "AODV (rfc)"], ["Transport", "TCP Reno"], ["Nodes", "30"], ["Duration", "100 s"], ["Seed", "1"], ["Made by", "this page"]]);
  assert.deepEqual(summary, ["AODV (rfc)", "TCP Reno", "30 nodes", "100 s"]);
});

test("what the page cannot know of a text is not said", () => {
  const edit = { text: "", patches: [], names: [], resolved };
  const { facts, summary } = noted({ edit }, head(9, 20, "babel"));
  assert.deepEqual(facts, [["Routing", "BABEL"], ["Nodes", "9"], ["Duration", "20 s"], ["Seed", "1"], ["Made by", "this page"]]);
  assert.deepEqual(summary, ["9 nodes", "20 s"]);
});
