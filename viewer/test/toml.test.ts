import assert from "node:assert/strict";
import { test } from "node:test";
import { meanInterval, tQuantile } from "../src/interval";
import { NotToml, parseToml, toJson, toText } from "../src/toml";

const json = (text: string): string => toJson(parseToml(text));

test("a scenario's TOML is read as it is written", () => {
  const text = `# a comment
duration_s = 5.0 # s
seed = 18446744073709551615
movement = { chain = { nodes = 3, spacing_m = 2e2 } }
tcp.window = 1_000
"routing" = 'aodv'
[live]
controls = [ "a",
  # within a list
  { field = "b", values = [0x10, -1, true] }, ]
[[traffic.flows]]
kind = "cbr\\t\\u00e9"
[[traffic.flows]]
note = """
one \\
   two"""`;
  assert.equal(
    json(text),
    '{"duration_s":5.0,"seed":18446744073709551615,"movement":{"chain":{"nodes":3,"spacing_m":200.0}},"tcp":{"window":1000},"routing":"aodv",' +
      '"live":{"controls":["a",{"field":"b","values":[16,-1,true]}]},"traffic":{"flows":[{"kind":"cbr\\té"},{"note":"one two"}]}}',
  );
});

test("what is no TOML is refused with its line, and nothing hangs", () => {
  const wrong = ["a = [1", "a = 1\na = 2", "[a]\n[a]", "a = 01", "a = 1__0", "= 1", "a", "a = 'b", "a = {b = 1", "a = 1 b = 2", "a = {b=1}\n[a]", "a = {b=1}\na.c = 2",
    "[[a]]\n[a]", "a = [1]\n[[a]]", "a = 1979-05-27", `a = ${"[".repeat(99)}`, '"', "a = \"\\x\"", "[a", "a.b = 1\na.b.c = 2", "x".repeat(1_000_001)];
  for (const each of wrong) assert.throws(() => parseToml(each), NotToml, each.slice(0, 40));
  assert.throws(() => parseToml("a = 1\n\nb = ?"), /at line 3/);
});

test("names of JavaScript's own are names like others", () => {
  const made = parseToml("[__proto__]\nevil = 1\n[constructor.prototype]\nevil = 2");
  assert.equal(({} as { evil?: unknown }).evil, undefined);
  assert.equal(toJson(made), '{"__proto__":{"evil":1},"constructor":{"prototype":{"evil":2}}}');
  assert.equal(toText({ a: [1, 2n, "b"] }), '{ a = [1.0, 2, "b"] }');
});

test("intervals are those of Student's t", () => {
  // Quantiles of 0.975 from tables, by degrees of freedom.
  for (const [degrees, wanted] of [[1, 12.7062], [2, 4.30265], [3, 3.18245], [4, 2.77645], [7, 2.36462], [9, 2.26216], [10, 2.22814], [29, 2.04523], [30, 2.04227], [99, 1.98422]]) {
    assert.ok(Math.abs(tQuantile(0.975, degrees) - wanted) < 1e-4 * wanted, `${degrees}: ${tQuantile(0.975, degrees)}`);
  }
  const { mean, half, n } = meanInterval([1, 2, 3, 4]);
  assert.deepEqual([mean, n], [2.5, 4]);
  assert.ok(Math.abs((half ?? 0) - (3.18245 * Math.sqrt(5 / 3)) / 2) < 1e-4);
  assert.equal(meanInterval([5]).half, undefined);
});
