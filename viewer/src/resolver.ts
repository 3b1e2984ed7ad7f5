// Python in the page: it turns a scenario's text into what the engine runs, as the command line does.

import { type Bytes, fromBase64, inflate } from "./bytes";
import { type Edit, Refusal } from "./edits";
import { Cancelled } from "./engine";
import type { LiveData } from "./requests";

/** resolver_worker.ts as it is built. */
declare const RESOLVER_SOURCE: string;

/** What a text asks the engine to run: JSON, and the movement as a file of ns-2 with what that cannot say. */
export interface Resolved {
  scenario: string;
  movement: string;
  /** JSON: null, or a list. */
  beside: string;
}

/** Choices beside the text. */
export interface Changes {
  routing?: string;
  sender?: string;
  /** In decimal digits. */
  seed?: string;
}

/** What Python answers; `names` are changed fields, with what each was and is. */
type Answer = Resolved & { routing: string; sender: string | null; seed: string; names: [string, string, string][] };

const ELEMENTS = ["python-script", "python-wasm", "python-library", "python-package", "python-files"];

/** The most changed fields that name a run. */
const MOST_NAMED = 2;

export class Resolver {
  private worker: Worker | undefined;
  private stopping = new AbortController();
  /** Those that wait for one another: Python answers one at a time. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly data: LiveData,
    private readonly module: WebAssembly.Module,
    private readonly parts: readonly string[],
  ) {}

  /** None if the page does not hold Python. */
  static of(data: LiveData, module: WebAssembly.Module): Resolver | undefined {
    const found = ELEMENTS.map((id) => document.getElementById(id));
    if (found.includes(null)) return undefined;
    const parts = found.map((each) => (each?.textContent ?? "").trim());
    for (const each of found) each?.remove();
    return new Resolver(data, module, parts);
  }

  /** The edit that a text is. Throws a `Refusal` with what the command line says of it. */
  async edit(text: string): Promise<Edit> {
    const { data } = this;
    const { routing, sender, seed, names, ...resolved } = await this.ask(text, {});
    const at = data.routings.findIndex(({ name }) => name === routing);
    const of = sender === null ? 0 : data.senders.findIndex(({ name }) => name === sender);
    const edit: Edit = { text, patches: [], names: [], resolved: { ...resolved }, seed };
    if (at >= 0) edit.routing = at;
    if (of >= 0 && data.senders.length > 0) edit.sender = of;
    // What the fields beside the text show is named by them.
    const isShown = (name: string): boolean => name === "seed" || (name === "routing" && at >= 0) || (name === "tcp.sender" && edit.sender !== undefined);
    const changed = names.filter(([name]) => !isShown(name));
    edit.names = changed.length > MOST_NAMED ? [["", `${changed.length} changes in the text`]] : changed.map(([, was, is]) => [was, is]);
    return edit;
  }

  /** The same text with other choices beside it. */
  async resolve(text: string, changes: Changes): Promise<Resolved> {
    const { scenario, movement, beside } = await this.ask(text, changes);
    return { scenario, movement, beside };
  }

  /** Ends what is going on. Python begins anew when it is asked next. */
  stop(): void {
    this.stopping.abort();
    this.stopping = new AbortController();
    this.worker?.terminate();
    this.worker = undefined;
  }

  private ask(text: string, changes: Changes): Promise<Answer> {
    const { toml, where } = this.data;
    const asked = JSON.stringify({ text, before: toml, name: where, changes });
    const { signal } = this.stopping;
    const next = this.last.then(() => this.answered(asked, signal));
    this.last = next.catch(() => undefined);
    return next;
  }

  private async answered(asked: string, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) throw new Cancelled("the run was cancelled");
    this.worker ??= await this.start();
    const { worker } = this;
    const answer = await new Promise<string>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Cancelled("the run was cancelled")), { once: true });
      worker.onmessage = ({ data }: MessageEvent<{ answer: string } | { failed: string }>) => {
        if ("answer" in data) resolve(data.answer);
        else reject(new Error(`Python in the page failed: ${data.failed.slice(-1000)}`));
      };
      worker.onerror = (event) => reject(new Error(`Python in the page failed: ${event.message || "the browser ended it"}`));
      worker.postMessage({ asked });
    }).catch((error: unknown) => {
      // What is left of it is not known.
      if (this.worker === worker) this.stop();
      throw error;
    });
    const read = JSON.parse(answer) as Answer | { error: string };
    if ("error" in read) throw Refusal.of(read.error);
    return read;
  }

  private async start(): Promise<Worker> {
    const [script, wasm, library, modules, files] = await Promise.all(this.parts.map((each): Promise<Bytes> => inflate(fromBase64(each))));
    const source = URL.createObjectURL(new Blob([script, `\n(() => {${RESOLVER_SOURCE}})();`], { type: "text/javascript" }));
    const worker = new Worker(source);
    URL.revokeObjectURL(source);
    worker.postMessage({ module: this.module, wasm, library, package: modules, files });
    return worker;
  }
}
