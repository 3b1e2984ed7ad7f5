import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOfLink, choicesToLink } from "../src/choices";
import { nearest } from "../src/edits";
import { asMade, type LiveData } from "../src/requests";
import { seedsOf } from "../src/seeds";
import { sharesOf, type Stall, stallAt } from "../src/stalls";

const parts: Stall[] = [
  { from: 10, until: 20, cause: "queue", node: 1 },
  { from: 20, until: 50, cause: "no-path", node: 0 },
  { from: 50, until: 60, cause: "queue", node: 1 },
];

test("shares are of the flow's life, the longest first, and a time has one part", () => {
  assert.deepEqual(sharesOf(parts).map(({ cause, node, time, share }) => [cause, node, time, share]), [["no-path", 0, 30, 0.6], ["queue", 1, 20, 0.4]]);
  assert.deepEqual([9, 10, 20, 59, 60].map((t) => stallAt(parts, t)?.from), [undefined, 10, 20, 50, undefined]);
});

const data = {
  seed: "18446744073709551614", draws: [], routings: [{ name: "aodv" }, { name: "dsr" }], senders: [], listed: [{ own: 0, options: ["a", "b"] }],
  controls: [{ name: "tcp.window", kind: "integer", range: [1, 9], above: false, value: "4" }],
} as unknown as LiveData;

const noText = (): Promise<never> => Promise.reject(new Error("no text"));

test("choices come back from an address, and what they cannot be is refused", async () => {
  const chosen = { ...asMade(data), routing: 1, seed: "7", options: [1], values: new Map([[0, "8"]]), moved: new Map([[3, [1.5, -2] as [number, number]]]) };
  assert.deepEqual(await choicesOfLink(data, await choicesToLink(data, chosen), noText), chosen);
  assert.equal(await choicesToLink(data, asMade(data)), "");
  for (const wrong of ["routing=olsr", "seed=x", "set.tcp.window=99", "moved=a", "list.0=c", "text=%%%"]) await assert.rejects(choicesOfLink(data, wrong, noText), wrong);
});

test("seeds go on from the scenario's own, past the largest from 0", () => {
  assert.deepEqual(seedsOf(data, 3), ["18446744073709551614", "18446744073709551615", "0"]);
});

test("the name that is meant is the one with the fewest slips", () => {
  const known = ["window", "sender", "min_rto_s"];
  assert.deepEqual(["windwo", "Sendr", "rto", "x", "min_rto"].map((each) => nearest(each, known)), ["window", "sender", undefined, undefined, "min_rto_s"]);
});
