// What held the chosen flow up: a strip beside the time, and a table in the side.

import type { Chart, Curve } from "./chart";
import { element, replaceKeepingFocus } from "./dom";
import type { Run } from "./model";
import { CAUSES, type Cause, sharesOf, type Stall, stallAt, stallsOf } from "./stalls";
import type { State } from "./state";
import { css, rgba, type Theme } from "./theme";
import { Plot } from "./timeline";
import { reasonLabel } from "./words";

/** The style sheet's names of the colours of causes. */
const COLORS: Record<Cause, string> = {
  "on-air": "data", queue: "routing", "back-off": "arp", searching: "route", kept: "node",
  "no-path": "text", lost: "drop", timeout: "collision", idle: "line",
};
const WORDS: Record<Cause, string> = {
  "on-air": "on the air", queue: "waiting in the queue", "back-off": "between two tries of the MAC", searching: "waiting for a route",
  kept: "kept back", "no-path": "no path", lost: "lost", timeout: "waiting for the timeout", idle: "nothing to carry",
};
/** The most rows of the table; the rest is one row. */
const MOST_ROWS = 8;

/** A cause in words: where, and why. */
function told(run: Run, { cause, node, reason }: Pick<Stall, "cause" | "node" | "reason">): string {
  const where = node === undefined ? "" : ` ${cause === "no-path" ? "from" : "at"} node ${run.nodeName(node)}`;
  if (cause === "timeout") return reason === undefined ? WORDS.timeout : `${WORDS.timeout} after a loss${where}: ${reasonLabel(reason)}`;
  return `${WORDS[cause]}${where}${reason === undefined ? "" : `: ${reasonLabel(reason)}`}`;
}

/** The causes of each moment; of what is less than a pixel wide, their shares from bottom to top. */
export class StallStrip extends Plot {
  constructor(...given: ConstructorParameters<typeof Plot>) {
    super(...given);
    this.root.classList.add("low");
  }

  protected key(): string {
    return [this.state.flow, ...this.runs.map((run) => run.isComplete)].join();
  }

  protected title(): [string, ...[string, string][]] {
    const { flow, clock } = this.state;
    const values = this.values((run) => {
      if (!run.isComplete) return "being read";
      const at = stallAt(stallsOf(run, flow), clock.t);
      return at === undefined ? "–" : told(run, at);
    });
    return [`What held flow ${flow} up`, ...values];
  }

  protected paint(context: CanvasRenderingContext2D, width: number, height: number, theme: Theme): void {
    const top = 18;
    const each = (height - top - 2) / this.runs.length;
    this.runs.forEach((run, i) => this.band(context, stallsOf(run, this.state.flow), width, top + i * each, each - 1, theme));
  }

  private band(context: CanvasRenderingContext2D, stalls: readonly Stall[], width: number, top: number, height: number, theme: Theme): void {
    const columns = CAUSES.map(() => new Float64Array(Math.ceil(width) + 1));
    for (const { from, until, cause } of stalls) {
      const [first, last] = [Math.max(0, this.toX(from, width)), Math.min(Math.ceil(width), this.toX(until, width))];
      const column = columns[CAUSES.indexOf(cause)];
      for (let x = Math.floor(first); x < last; x++) column[x] += Math.min(last, x + 1) - Math.max(first, x);
    }
    for (let x = 0; x < width; x++) {
      let at = top + height;
      CAUSES.forEach((cause, i) => {
        const part = columns[i][x] * height;
        if (part <= 0) return;
        context.fillStyle = colorOf(cause, theme);
        context.fillRect(x, at - part, 1, part);
        at -= part;
      });
    }
  }

  protected chart(): Pick<Chart, "title" | "quantity" | "curves" | "fromZero"> {
    const curves = this.runs.flatMap((run): Curve[] => {
      const stalls = stallsOf(run, this.state.flow);
      return CAUSES.filter((cause) => stalls.some((each) => each.cause === cause)).map((cause) => {
        const mine = stalls.filter((each) => each.cause === cause);
        let sum = 0;
        const v = [0, ...mine.map((each) => (sum += (each.until - each.from) / 1e9))];
        return { run: this.runs.length > 1 ? run.note.name : "", name: WORDS[cause], color: COLORS[cause], t: [0, ...mine.map((each) => each.until)], v };
      });
    });
    return { title: this.title()[0], quantity: "time so far (s)", curves, fromZero: true };
  }
}

function colorOf(cause: Cause, theme: Theme): string {
  const { carries, drop, collision, route, text, node, line } = theme;
  const colors: Record<Cause, string> = {
    "on-air": carries[0], queue: carries[1], "back-off": carries[2], searching: route, kept: node,
    "no-path": text, lost: drop, timeout: collision, idle: css(rgba(line, 0.6)),
  };
  return colors[cause];
}

/** The parts of the chosen flow's life by cause, of all runs side by side. */
export class StallTable {
  private readonly root = element("section", { id: "stalls" });
  private shown = "";

  constructor(
    side: HTMLElement,
    private readonly runs: Run[],
    private readonly state: State,
  ) {
    side.append(this.root);
  }

  update(): void {
    const { runs, state } = this;
    const key = [state.flow, ...runs.map((run) => run.version)].join();
    if (key === this.shown || runs.some((run) => !run.isComplete)) return;
    this.shown = key;
    const shares = runs.map((run) => new Map(sharesOf(stallsOf(run, state.flow)).map((each) => [each.key, each])));
    const most = (name: string): number => Math.max(...shares.map((each) => each.get(name)?.share ?? 0));
    const keys = [...new Set(shares.flatMap((each) => [...each.keys()]))].sort((a, b) => most(b) - most(a));
    this.root.hidden = keys.length === 0;
    const cells = (of: (shares: Map<string, { share: number }>) => number): HTMLElement[] =>
      shares.map((each) => element("td", { class: "number" }, percent(of(each))));
    const rows = keys.slice(0, MOST_ROWS).map((name) => {
      const what = shares.map((each) => each.get(name)).find((each) => each !== undefined);
      if (what === undefined) return element("tr");
      const mark = element("span", { class: "cause", style: `background: var(--${COLORS[what.cause]})`, "aria-hidden": "true" });
      return element("tr", { "data-cause": name }, element("th", { scope: "row" }, mark, told(runs[0], what)), ...cells((each) => each.get(name)?.share ?? 0));
    });
    const others = keys.slice(MOST_ROWS);
    if (others.length > 0) rows.push(element("tr", {}, element("th", { scope: "row" }, `${others.length} others`), ...cells((each) => others.reduce((sum, name) => sum + (each.get(name)?.share ?? 0), 0))));
    const names = runs.map((run) => element("th", { scope: "col", class: "number" }, runs.length > 1 ? run.note.name : "of its life"));
    const head = element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Cause"), ...names));
    const title = element("div", { class: "head" }, element("h2", {}, `What held flow ${state.flow} up`));
    replaceKeepingFocus(this.root, title, element("table", { class: "results" }, head, element("tbody", {}, ...rows)));
  }
}

function percent(share: number): string {
  return share === 0 ? "–" : share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}
