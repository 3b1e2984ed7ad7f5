import assert from "node:assert/strict";
import { test } from "node:test";
import { DELIVERED, DROPPED, type Run } from "../src/model";
import { nextMoment, STALL_NS } from "../src/moments";

/** A run of flow 0: arrivals and a loss in s, and the sender's window. */
function made(arrivals: number[], loss: number, windows: [t: number, cwnd: number, rto: number][], whats = ["tcp"]): Run {
  const hops = [...arrivals.map((t) => [t, DELIVERED]), [loss, DROPPED]].sort((a, b) => a[0] - b[0]);
  const of = (values: number[][], at: number): number[] => values.map((each) => each[at]);
  return {
    hops: { length: hops.length, columns: { t: of(hops, 0).map((t) => t * 1e9), step: of(hops, 1), node: hops.map(() => 7), packet: hops.map((_, row) => row % whats.length) } },
    packets: whats.map((what) => ({ flow: 0, what })),
    windows: { columns: { t: of(windows, 0).map((t) => t * 1e9), cwnd: of(windows, 1), rto: of(windows, 2) } },
    windowsByFlow: { of: () => windows.map((_, row) => row) },
    flows: [{ id: 0 }],
    readUpTo: 10e9,
    nodeName: String,
  } as unknown as Run;
}

test("losses, timeouts and stalls come in the order of time", () => {
  const run = made([1, 1.2, 4, 4.5, 9.5], 1.5, [[1, 1, 1], [1.1, 4, 1], [3, 1, 2], [3.5, 1, 2], [6, 1, 4]]);
  const losses = [2];
  const told: string[] = [];
  let t = 0;
  for (let next = nextMoment(run, losses, null, t); next !== undefined; next = nextMoment(run, losses, null, t)) {
    told.push(`${next.t / 1e9} ${next.what}`);
    t = next.t;
  }
  assert.deepEqual(told, [
    "1.2 flow 0: nothing arrives after this for 2.80 s",
    "1.5 flow 0: loss at node 7",
    "3 flow 0: timeout",
    "4.5 flow 0: nothing arrives after this for 5.00 s",
    "6 flow 0: timeout",
  ]);
});

test("a flow that ends with its run has not stalled, one that stops before has, and flows that are hidden say nothing", () => {
  assert.equal(nextMoment(made([1, 1.5], 0, []), [], new Set([1]), 0), undefined);
  assert.match(nextMoment(made([1, 1.5], 0, []), [], null, 0)?.what ?? "", /up to the end/);
  const dense = Array.from({ length: 20 }, (_, i) => i / 2);
  assert.ok(STALL_NS > 0.5e9);
  assert.equal(nextMoment(made(dense, 0, []), [], null, 0), undefined);
});

test("acknowledgements of every transport are no arrivals", () => {
  for (const [data, answer] of [["tcp", "ack"], ["adp", "adp-ack"], ["psp", "psp-ack"]]) {
    // Data at 1 s and 4 s, an answer at 2 s between them; the loss is after all that is looked for.
    const run = made([1, 2, 4], 9, [], [data, answer]);
    assert.equal(nextMoment(run, [], null, 0)?.what, "flow 0: nothing arrives after this for 3.00 s", data);
  }
});
