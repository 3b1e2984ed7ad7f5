// Runs one request in the engine, off the page's thread; the page starts one such worker for each run.
//
// The calling convention is described in crates/wasm/src/exports.rs.

interface Exports {
  memory: WebAssembly.Memory;
  manetlab_input(bytes: number): number;
  manetlab_run(): number;
  manetlab_output(what: number): number;
  manetlab_output_bytes(what: number): number;
}

const [TEXT, RECORDING] = [0, 1];

self.onmessage = async ({ data }: MessageEvent<{ module: WebAssembly.Module; request: string }>) => {
  const progress = (part: number): void => self.postMessage({ part });
  const { exports } = await WebAssembly.instantiate(data.module, { manetlab: { progress } });
  const engine = exports as unknown as Exports;
  const output = (what: number): Uint8Array<ArrayBuffer> => {
    const [at, bytes] = [engine.manetlab_output(what), engine.manetlab_output_bytes(what)];
    return new Uint8Array(engine.memory.buffer as ArrayBuffer, at, bytes).slice();
  };
  const text = (): string => new TextDecoder().decode(output(TEXT));
  const request = new TextEncoder().encode(data.request);
  const at = engine.manetlab_input(request.length);
  new Uint8Array(engine.memory.buffer, at, request.length).set(request);
  const began = performance.now();
  try {
    const isDone = engine.manetlab_run() === 1;
    const ms = performance.now() - began;
    if (!isDone) self.postMessage({ refused: text() });
    else self.postMessage({ result: text(), recording: output(RECORDING), ms });
  } catch (error) {
    // A panic leaves its message; without one the memory was not enough.
    self.postMessage({ refused: text() || String(error) });
  }
};
