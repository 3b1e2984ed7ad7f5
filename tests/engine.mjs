// Runs requests in the engine of WebAssembly: node tests/engine.mjs ENGINE.wasm REQUEST.json...
// Prints a JSON object for each: the name of its file, its result hash (or in words why it has none), and the time in ms.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [engine, ...requests] = process.argv.slice(2);
const compiled = await WebAssembly.compile(readFileSync(engine));
for (const name of requests) {
  const { exports } = await WebAssembly.instantiate(compiled, { manetlab: { progress() {} } });
  const request = readFileSync(name);
  const at = exports.manetlab_input(request.length);
  new Uint8Array(exports.memory.buffer, at, request.length).set(request);
  const began = performance.now();
  const isDone = exports.manetlab_run() === 1;
  const ms = performance.now() - began;
  const bytes = new Uint8Array(exports.memory.buffer, exports.manetlab_output(0), exports.manetlab_output_bytes(0));
  const text = new TextDecoder().decode(bytes);
  const found = isDone ? { hash: JSON.parse(text).result_hash } : { refused: text };
  console.log(JSON.stringify({ name: basename(name), ...found, ms }));
}
