// Carries out requests in the engine of WebAssembly. Node runs it as a program, node tests/engine_host.mjs ENGINE.wasm
// REQUEST.json…, and prints a JSON object for each request; a page in a browser holds its first function.

/** Carries out a request, which is text, in a new instance: the result hash, or in words why there is none; and the time in ms. */
async function answered(compiled, request) {
  const { exports } = await WebAssembly.instantiate(compiled, { manetlab: { progress() {} } });
  const bytes = new TextEncoder().encode(request);
  const at = exports.manetlab_input(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  const cpu = globalThis.process?.cpuUsage();
  const began = performance.now();
  const isDone = exports.manetlab_run() === 1;
  const ms = performance.now() - began;
  const used = globalThis.process?.cpuUsage(cpu);
  const output = new Uint8Array(exports.memory.buffer, exports.manetlab_output(0), exports.manetlab_output_bytes(0));
  const text = new TextDecoder().decode(output);
  const times = used === undefined ? { ms } : { ms, cpu_ms: (used.user + used.system) / 1000 };
  return { ...(isDone ? { hash: JSON.parse(text).result_hash } : { refused: text }), ...times };
}

// The program.
const { readFileSync } = await import("node:fs");
const [engine, ...requests] = process.argv.slice(2);
const compiled = await WebAssembly.compile(readFileSync(engine));
for (const name of requests) console.log(JSON.stringify(await answered(compiled, readFileSync(name, "utf8"))));
