// The simulator as a WebAssembly module: requests go to a worker, so that the page answers while a run is made.

import { type Bytes, fromBase64, inflate } from "./bytes";

/** worker.ts as it is built. */
declare const WORKER_SOURCE: string;

/** What a run gave. */
export interface Answer {
  /** The result as JSON text. */
  result: string;
  /** The recording's bytes; none if none was asked for. */
  recording: Bytes;
  /** How long the run took, in ms. */
  ms: number;
}

/** Why there is no answer: in the engine's words. */
export class Refused extends Error {}
/** The run was stopped by the user. */
export class Cancelled extends Error {}

type Message = { part: number } | { refused: string } | Answer;

export class Engine {
  private stopping = new AbortController();

  private constructor(
    readonly module: WebAssembly.Module,
    private readonly source: string,
  ) {}

  /** Compiles the module, which the page holds compressed. */
  static async open(text: string): Promise<Engine> {
    const module = await WebAssembly.compile(await inflate(fromBase64(text.trim())));
    return new Engine(module, URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" })));
  }

  /** Makes one run, in place of one that is being made; `progress` is told which part of it is over. */
  run(request: string, progress: (part: number) => void): Promise<Answer> {
    this.cancel();
    this.stopping = new AbortController();
    return this.apart(request, progress, this.stopping.signal);
  }

  /** Makes one run in a worker of its own, beside others, until it is over or a signal stops it. */
  apart(request: string, progress: (part: number) => void, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return Promise.reject(new Cancelled("the run was cancelled"));
    const worker = new Worker(this.source);
    return new Promise<Answer>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Cancelled("the run was cancelled")), { once: true });
      worker.onmessage = ({ data }: MessageEvent<Message>) => {
        if ("part" in data) progress(data.part);
        else if ("refused" in data) reject(new Refused(data.refused));
        else resolve(data);
      };
      worker.onerror = (event) => reject(new Refused(event.message || "the browser ended the worker"));
      worker.postMessage({ module: this.module, request });
    }).finally(() => worker.terminate());
  }

  cancel(): void {
    this.stopping.abort();
  }
}
