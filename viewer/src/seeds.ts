// The runs that are shown, repeated with other seeds in workers, with intervals.

import { button, element } from "./dom";
import { Cancelled, type Engine } from "./engine";
import { type Interval, meanInterval } from "./interval";
import type { Metric, Totals } from "./live";
import { type Chosen, type LiveData, refusal, requestOf } from "./requests";

/** How many seeds are offered first, and the most. */
const USUAL = 8;
const MOST = 200;
/** The most runs at once. */
const MOST_WORKERS = 4;

/** A run whose choices are repeated. */
export interface Repeated {
  name: string;
  chosen: Chosen;
}

/** The totals and hashes of one run's repetitions, by seed. */
interface Repetitions {
  totals: Totals[];
  hashes: string[];
}

export class Seeds {
  readonly root: HTMLDetailsElement;
  private readonly count = element("input", { id: "seeds-count", inputmode: "numeric", size: "4", value: String(USUAL), autocomplete: "off" });
  private readonly start = button("Repeat", () => void this.repeat(), { id: "seeds-run" });
  private readonly stop = button("Stop", () => this.stopping.abort(), { id: "seeds-stop", hidden: "" });
  private readonly told = element("p", { class: "note", role: "status", id: "seeds-status" });
  private readonly results = element("div", { id: "seeds-results" });
  private stopping = new AbortController();

  constructor(
    private readonly data: LiveData,
    private readonly engine: Engine,
    private readonly metrics: readonly Metric[],
    private readonly runs: () => Repeated[],
    /** Adds what Python makes of choices; none if the page does not hold Python. */
    private readonly prepare: ((chosen: Chosen) => Promise<Chosen>) | undefined,
  ) {
    const label = element("label", {}, element("span", {}, "Seeds"), this.count);
    this.root = element("details", { id: "seeds" }, element("summary", {}, "Repeat with other seeds"), element("div", { class: "actions" }, label, this.start, this.stop), this.told, this.results);
  }

  /** Ends what is going on. */
  cancel(): void {
    this.stopping.abort();
  }

  private async repeat(): Promise<void> {
    const count = Number(this.count.value);
    const isCount = Number.isInteger(count) && count >= 2 && count <= MOST;
    this.count.setAttribute("aria-invalid", String(!isCount));
    if (!isCount) return this.tell(`Intervals need a whole number of seeds from 2 to ${MOST}.`);
    const runs = this.runs();
    const seeds = seedsOf(this.data, count, this.prepare !== undefined);
    const tasks = runs.flatMap((run, i) => seeds.map((seed, k) => ({ i, k, chosen: { ...run.chosen, seed } })));
    const refused = tasks.map(({ chosen }) => refusal(this.data, chosen)).find((each) => each !== undefined);
    if (refused !== undefined) return this.tell(refused);
    this.stopping = new AbortController();
    this.running(true);
    try {
      const found = await this.all(runs.length, tasks);
      const few = seeds.length < count ? ` The page holds the draws of ${seeds.length} seeds.` : "";
      this.tell(`n = ${seeds.length} seeds, ${seeds[0]} to ${seeds[seeds.length - 1]}: means with 95 % intervals (Student’s t).${few}`);
      this.show(runs, found);
    } catch (error) {
      this.tell(error instanceof Cancelled ? "The repetitions were stopped." : `A run was not made: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.stopping.abort();
    this.running(false);
  }

  /** Makes all runs, as many at once as there are cores, up to four. */
  private async all(count: number, tasks: { i: number; k: number; chosen: Chosen }[]): Promise<Repetitions[]> {
    const found: Repetitions[] = Array.from({ length: count }, () => ({ totals: [], hashes: [] }));
    let [next, done] = [0, 0];
    const work = async (): Promise<void> => {
      while (next < tasks.length) {
        const { i, k, chosen } = tasks[next++];
        const prepared = (await this.prepare?.(chosen)) ?? chosen;
        const { result } = await this.engine.apart(requestOf(this.data, prepared, false), () => {}, this.stopping.signal);
        const made = JSON.parse(result) as { totals: Totals; result_hash: string };
        [found[i].totals[k], found[i].hashes[k]] = [made.totals, made.result_hash];
        this.tell(`${++done} of ${tasks.length} runs`);
      }
    };
    const workers = Math.max(1, Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 1));
    try {
      await Promise.all(Array.from({ length: workers }, work));
    } finally {
      this.stopping.abort();
    }
    return found;
  }

  private show(runs: Repeated[], found: Repetitions[]): void {
    const columns = runs.map(({ name }, i) => [element("th", { scope: "col", class: "number" }, name), ...(i > 0 ? [element("th", { scope: "col", class: "number" }, "difference from the first")] : [])]).flat();
    const head = element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Total"), ...columns));
    const rows = this.metrics.filter((metric) => metric.isFirst).map((metric) => this.row(metric, found)).filter((row) => row !== undefined);
    const table = element("table", { class: "results" }, head, element("tbody", {}, ...rows));
    table.dataset["hashes"] = JSON.stringify(found.map(({ hashes }) => hashes));
    this.results.replaceChildren(element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Means over seeds" }, table));
  }

  private row(metric: Metric, found: Repetitions[]): HTMLElement | undefined {
    const { key, label, unit, factor } = metric;
    const values = found.map(({ totals }) => totals.map((each) => (typeof each[key] === "number" ? each[key] * factor : undefined)));
    if (values.every((each) => each.every((one) => one === undefined))) return undefined;
    const isThere = (each: number | undefined): each is number => each !== undefined;
    const cell = (of: (number | undefined)[]): HTMLElement => {
      const numbers = of.filter(isThere);
      if (numbers.length === 0) return element("td", { class: "number" }, "–");
      const interval = meanInterval(numbers);
      const told = element("td", { class: "number" }, `${text(interval, metric)}${numbers.length < of.length ? ` (n = ${numbers.length})` : ""}`);
      told.dataset["mean"] = String(interval.mean);
      told.dataset["half"] = String(interval.half ?? "");
      return told;
    };
    const cells = values.flatMap((each, i) => {
      if (i === 0) return [cell(each)];
      const differences = each.map((value, k) => (value === undefined || values[0][k] === undefined ? undefined : value - values[0][k]));
      return [cell(each), cell(differences)];
    });
    return element("tr", { "data-key": key }, element("th", { scope: "row" }, unit === "" ? label : `${label} (${unit})`), ...cells);
  }

  private running(isRunning: boolean): void {
    const hadFocus = document.activeElement === (isRunning ? this.start : this.stop);
    this.start.hidden = isRunning;
    this.stop.hidden = !isRunning;
    if (hadFocus) (isRunning ? this.stop : this.start).focus();
    document.documentElement.dataset["seeds"] = isRunning ? "running" : "done";
  }

  private tell(text: string): void {
    this.told.textContent = text;
  }
}

/** The first seeds from the scenario's own on: all that the page holds if movement or traffic are drawn, and it cannot draw. */
export function seedsOf(data: LiveData, count: number, canDraw = false): string[] {
  if (data.draws.length > 0 && !canDraw) return data.draws.slice(0, count).map(({ name }) => name);
  return Array.from({ length: count }, (_, i) => ((BigInt(data.seed) + BigInt(i)) % 2n ** 64n).toString());
}

function text({ mean, half }: Interval, { digits }: Metric): string {
  const minus = (value: number): string => value.toFixed(digits).replace("-", "−");
  return half === undefined ? minus(mean) : `${minus(mean)} ± ${half.toFixed(digits)}`;
}
