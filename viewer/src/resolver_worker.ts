// Python in a worker: it resolves scenarios with manetlab's own modules, over the engine.
//
// The page puts Pyodide's script before this one. See python/manetlab/replay/in_page and crates/wasm/src/calls.rs.

interface Exports {
  memory: WebAssembly.Memory;
  manetlab_input(bytes: number): number;
  manetlab_data(bytes: number): number;
  manetlab_call(): number;
  manetlab_output(what: number): number;
  manetlab_output_bytes(what: number): number;
}

/** As much of Pyodide as is used here. */
interface Python {
  unpackArchive(archive: Uint8Array, format: string, options: { extractDir: string }): void;
  registerJsModule(name: string, module: object): void;
  runPython(code: string): unknown;
}
interface AsPython {
  /** A view of Python's bytes; it is released after use. */
  getBuffer(type: "u8"): { data: Uint8Array; release(): void };
}

declare const loadPyodide: (options: object) => Promise<Python>;
declare const _createPyodideModule: unknown;
/** Pyodide's list of packages, without any. */
declare const noPackages: string;

/** What the worker begins with. */
interface Parts {
  module: WebAssembly.Module;
  wasm: Uint8Array<ArrayBuffer>;
  library: Uint8Array<ArrayBuffer>;
  package: Uint8Array;
  files: Uint8Array;
}

/** Where Pyodide believes its files to be: no name leads there. */
const NOWHERE = "about:pyodide/";
/** Where texts are; that of python/manetlab/replay/python_in_page.py. */
const FOLDER = "/scenarios/a/b/c/d";

let answer: Promise<(asked: string) => string>;

self.onmessage = async ({ data }: MessageEvent<Parts | { asked: string }>) => {
  try {
    if (!("asked" in data)) answer = start(data);
    else self.postMessage({ answer: (await answer)(data.asked) });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};

async function start({ module, wasm, library, package: modules, files }: Parts): Promise<(asked: string) => string> {
  // Pyodide asks for its parts by their addresses; the policy of the page lets nothing else through.
  self.fetch = async (address) => {
    const name = String(address);
    if (name.endsWith(".wasm")) return new Response(wasm, { headers: { "content-type": "application/wasm" } });
    if (name.endsWith(".zip")) return new Response(library);
    throw new Error(`the page does not hold ${name}`);
  };
  const { exports } = await WebAssembly.instantiate(module, { manetlab: { progress() {} } });
  const python = await loadPyodide({ indexURL: NOWHERE, createPyodideModule: _createPyodideModule, lockFileContents: noPackages });
  python.registerJsModule("manetlab_host", { call: caller(exports as unknown as Exports) });
  python.unpackArchive(modules, "zip", { extractDir: "/manetlab" });
  python.unpackArchive(files, "zip", { extractDir: "/" });
  return python.runPython(`
import os, sys
os.makedirs("${FOLDER}", exist_ok=True)
os.chdir("${FOLDER}")
sys.path.insert(0, "/manetlab")
from manetlab_answers import answer
answer`) as (asked: string) => string;
}

/** What Python calls: JSON and bytes go to the engine, 1 or 0 and JSON come back. */
function caller(engine: Exports): (asked: string, data: AsPython) => string {
  const put = (bytes: Uint8Array, at: number): void => new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  return (asked, data) => {
    const view = data.getBuffer("u8");
    const request = new TextEncoder().encode(asked);
    put(request, engine.manetlab_input(request.length));
    put(view.data, engine.manetlab_data(view.data.length));
    view.release();
    const isAnswer = engine.manetlab_call();
    const text = new Uint8Array(engine.memory.buffer, engine.manetlab_output(0), engine.manetlab_output_bytes(0));
    return String(isAnswer) + new TextDecoder().decode(text);
  };
}
