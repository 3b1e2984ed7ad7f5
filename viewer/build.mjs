// Builds the page's template, or the tests.
//
//   node build.mjs [FILE]   the template; by default python/manetlab/replay/assets/page.html
//   node build.mjs --tests  out/test/*.test.mjs

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const common = { bundle: true, target: "es2022", charset: "utf8", logLevel: "warning", absWorkingDir: here };

if (process.argv[2] === "--tests") {
  const entryPoints = readdirSync(join(here, "test")).filter((each) => each.endsWith(".test.ts")).map((each) => `test/${each}`);
  const outExtension = { ".js": ".mjs" };
  await build({ ...common, entryPoints, outdir: "out/test", format: "esm", platform: "node", outExtension });
} else {
  const entry = async (name, loader) => {
    const made = await build({ ...common, entryPoints: [name], minify: true, write: false, ...loader });
    return made.outputFiles[0].text.trim();
  };
  const worker = await entry("src/worker.ts", { format: "iife" });
  const resolver = await entry("src/resolver_worker.ts", { format: "iife" });
  const sources = { WORKER_SOURCE: JSON.stringify(worker), RESOLVER_SOURCE: JSON.stringify(resolver) };
  const script = await entry("src/main.ts", { format: "iife", define: sources });
  const style = await entry("src/style.css", {});
  // Within a page, nothing may look like the end of its element.
  if (/<\/(script|style)/i.test(script + style)) throw new Error("the script or the style would end its element");
  const page = readFileSync(join(here, "src/page.html"), "utf8");
  const parts = { "{{style}}": style, "{{script}}": script, "{{sources}}": digest() };
  const made = page.replace(/\{\{(style|script|sources)\}\}/g, (place) => parts[place]);
  writeFileSync(process.argv[2] ?? join(here, "../python/manetlab/replay/assets/page.html"), made);
}

/** A digest of all that the page is built from: tests compare it where there is no Node to build it again. */
function digest() {
  const hash = createHash("sha256");
  const sources = readdirSync(join(here, "src")).sort().map((name) => ["src", name]);
  for (const path of [...sources, ["build.mjs"], ["package-lock.json"]]) {
    hash.update(`${path.at(-1)}\0`).update(readFileSync(join(here, ...path)));
  }
  return hash.digest("hex");
}
