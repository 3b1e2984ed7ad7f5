// A page that makes runs: the user changes the scenario, the engine runs it, and the new run is shown beside the old one.

import { fromBase64, inflate } from "./bytes";
import { choicesOfLink, choicesToLink, given } from "./choices";
import { readLink } from "./clock";
import { Fields } from "./controls";
import { button, byId, element } from "./dom";
import { Editor } from "./editor";
import { type Edit, editOf, Refusal } from "./edits";
import { type Answer, Cancelled, Engine } from "./engine";
import type { App } from "./main";
import { Run } from "./model";
import { Mover } from "./mover";
import { noteFor } from "./notes";
import { Recording } from "./recording";
import { type Repeated, Seeds } from "./seeds";
import { asMade, changesOf, type Chosen, type Choice, differences, type Displacement, type LiveData, parseSeed, protocolPatches, refusal, requestOf } from "./requests";
import { Resolver } from "./resolver";

/** A total as it is shown; see python/manetlab/metrics.py. */
export interface Metric {
  key: string;
  label: string;
  unit: string;
  factor: number;
  digits: number;
  /** It is shown at once. */
  isFirst: boolean;
}

export type Totals = Record<string, number | null | undefined>;

/** What the page is told beside its data. */
export interface LiveConfig {
  /** Why the page can make no runs, in words. */
  missing?: string;
  /** Result hash of the run as made, where the page was made. */
  hash: string;
  totals: Totals;
  metrics: Metric[];
}

/** What the page offers. */
interface Viewer {
  show(runs: Run[], before?: App): Promise<App>;
  readAll(app: App): Promise<void>;
}

/** A run that was made here. */
interface Made {
  run: Run;
  chosen: Chosen;
  totals: Totals;
  hash: string;
}

/** The oldest browsers that run the engine, as caniuse.com has them for fixed-width SIMD. */
const NEEDED = "The engine uses WebAssembly SIMD, which Chrome and Edge have from version 91 on, Firefox from 89, and Safari from 16.4";
/** The most runs beside the one as made. */
const MOST_MADE = 3;
/** Keys of the address for the choices of each of them. */
const LINKED = ["with1", "with2", "with3"];
/** Digits of a hash that are shown. */
const HASH_DIGITS = 12;

export async function startLive(config: LiveConfig, base: Run, app: App, viewer: Viewer): Promise<void> {
  const withoutEngine = (why: string): void =>
    byId("side").prepend(element("section", { id: "no-engine" }, element("p", { class: "note" }, why)));
  if (config.missing !== undefined) return withoutEngine(config.missing);
  const text = (id: string): string => (byId(id).textContent ?? "").trim();
  const data = JSON.parse(new TextDecoder().decode(await inflate(fromBase64(text("live-data"))))) as LiveData;
  let engine: Engine;
  try {
    engine = await Engine.open(text("engine"));
  } catch (error) {
    // The replay is there all the same.
    return withoutEngine(`This browser cannot make runs, because it refuses the engine: ${words(error)}. ${NEEDED}.`);
  }
  for (const id of ["live-data", "engine"]) byId(id).remove();
  const live = new Live(config, data, engine, base, app, viewer);
  await live.check();
  await live.restore();
}

class Live {
  private chosen: Chosen;
  /** The runs made here that are shown, the latest last. */
  private made: Made[] = [];
  private isChecked = false;
  private isRunning = false;
  /** How often a run was cancelled: the engine does not know of one that has not come to it. */
  private cancelled = 0;
  private readonly mover: Mover;
  private readonly fields: { routing: HTMLSelectElement; sender: HTMLSelectElement; seed: HTMLInputElement | HTMLSelectElement };
  private readonly controls: Fields;
  private readonly editor: Editor;
  private readonly seeds: Seeds;
  private readonly resolver: Resolver | undefined;
  private readonly runButton = button("Run", () => void this.run(), { class: "primary", id: "live-run" });
  private readonly besideButton = button("Run beside", () => void this.run(true), { id: "live-beside", title: "Keep the runs that are shown, up to four", hidden: "" });
  private readonly cancelButton = button("Cancel", () => this.cancel(), { id: "live-cancel", hidden: "" });
  private readonly moveButton = button("Move nodes", () => this.toggleMoving(), { "aria-pressed": "false", id: "live-move" });
  private readonly resetButton = button("Reset", () => void this.reset(), { id: "live-reset", title: "Go back to the run as made" });
  private readonly progress = element("progress", { max: "1", "aria-label": "Part of the run that is over", hidden: "" });
  private readonly status = element("p", { id: "live-status", role: "status" });
  private readonly verdict = element("p", { id: "live-check", role: "status" });
  private readonly side = element("section", { id: "live-results", "aria-label": "Results" });
  private readonly form: HTMLElement;

  constructor(
    private readonly config: LiveConfig,
    private readonly data: LiveData,
    private readonly engine: Engine,
    private readonly base: Run,
    private app: App,
    private readonly viewer: Viewer,
  ) {
    this.chosen = asMade(data);
    this.resolver = Resolver.of(data, engine.module);
    this.form = this.moveForm();
    this.fields = {
      routing: select("live-routing", data.routings),
      sender: select("live-sender", data.senders),
      seed: data.draws.length > 0 && this.resolver === undefined ? select("live-seed", data.draws, true) : element("input", { id: "live-seed", inputmode: "numeric", size: "6", autocomplete: "off" }),
    };
    this.controls = new Fields(data.controls, data.listed, data.isNamed);
    this.editor = new Editor(data, `manetlab-draft-${config.hash}`, this.resolver !== undefined, (text) => void this.runText(text));
    this.seeds = new Seeds(data, engine, config.metrics, () => this.shownRuns(), this.resolver && ((chosen) => this.prepared(chosen)));
    this.mover = new Mover(
      () => this.app.stageList,
      (stage, node) => (stage.number === 0 ? undefined : this.made[stage.number - 1]?.chosen.moved.get(node)) ?? [0, 0],
      () => (this.app.state.clock.isPlaying = false),
      (node, displacement) => void this.moveNode(node, displacement),
    );
    document.body.classList.add("live");
    if (data.isEditorOpen) this.besideEditor();
    (document.getElementById("lesson") ?? document.querySelector("header"))?.after(this.bar());
    this.showFields();
    this.showSide();
  }

  /** A laboratory has its text where an exercise has its questions: beside the network. */
  private besideEditor(): void {
    const found = document.getElementById("lesson");
    const beside = found ?? element("section", { id: "lesson", "aria-label": "Scenario" });
    if (found === null) document.querySelector("header")?.after(beside);
    beside.append(this.editor.root);
  }

  private bar(): HTMLElement {
    const { fields, data } = this;
    const labelled = (label: string, field: HTMLElement): HTMLElement => element("label", {}, element("span", {}, label), field);
    const bar = element("section", { id: "live", "aria-label": "Change the scenario and run it" }, labelled("Routing", fields.routing));
    if (data.senders.length > 0) bar.append(labelled("TCP sender", fields.sender));
    if (data.draws.length !== 1 || this.resolver !== undefined) bar.append(labelled("Seed", fields.seed));
    bar.append(this.moveButton, this.runButton, this.besideButton, this.cancelButton, this.resetButton, this.progress, element("div", {}, this.status, this.verdict));
    if (data.controls.length + data.listed.length > 0) bar.append(this.controls.root);
    if (!data.isEditorOpen) bar.append(this.editor.root);
    bar.append(this.seeds.root);
    for (const each of [fields.routing, fields.sender]) {
      each.addEventListener("change", () => this.controls.renew(this.patches(fields.routing.selectedIndex, fields.sender.selectedIndex)));
    }
    // The keys of the replay are letters, which choose in lists and are written in fields.
    bar.addEventListener("keydown", (event) => event.stopPropagation());
    this.side.addEventListener("keydown", (event) => event.stopPropagation());
    bar.addEventListener("keydown", (event) => {
      const { target } = event;
      if (event.key === "Enter" && target instanceof HTMLInputElement && !this.seeds.root.contains(target)) void this.run();
    });
    return bar;
  }

  private patches(routing: number, sender: number): string[] {
    return protocolPatches(this.data, routing, Math.max(0, sender));
  }

  /** Makes the unchanged run, to tell whether this browser computes what the machine did that made the page. */
  async check(): Promise<void> {
    this.verdict.textContent = "Checking that this browser gets the same result …";
    this.tell("checking");
    try {
      const { result } = await this.engine.run(requestOf(this.data, asMade(this.data), false), () => {});
      const found = hashOf(result);
      this.isChecked = true;
      const isSame = found === this.config.hash;
      this.verdict.className = isSame ? "good" : "bad";
      this.verdict.textContent = isSame
        ? "Same result as on the machine that made this page"
        : "This browser gets another result than the machine that made this page. Do not rely on its runs.";
      this.verdict.title = `Result hash of the unchanged run: here ${found}, there ${this.config.hash}`;
    } catch (error) {
      if (error instanceof Cancelled) return;
      this.isChecked = true;
      this.verdict.className = "bad";
      this.verdict.textContent = `This browser could not repeat the run: ${words(error)}`;
    }
    this.tell("ready");
  }

  /** Reads the fields; says what is wrong with them. */
  private read(): Chosen | undefined {
    const { routing, sender, seed } = this.fields;
    const found = parseSeed(seed.value);
    seed.setAttribute("aria-invalid", String(found === undefined));
    if (found === undefined) {
      this.say("A seed is a whole number from 0 to 18446744073709551615.", true);
      seed.focus();
      return undefined;
    }
    const controls = this.controls.read();
    if ("wrong" in controls) {
      this.say(controls.wrong, true);
      this.controls.root.open = true;
      controls.field.focus();
      return undefined;
    }
    const chosen = { ...this.chosen, ...controls, routing: routing.selectedIndex, sender: Math.max(0, sender.selectedIndex), seed: found };
    const refused = refusal(this.data, chosen);
    if (refused !== undefined) {
      this.say(refused, true);
      return undefined;
    }
    return chosen;
  }

  /** Runs what the scenario's text says, with nothing changed but what it says. */
  private async runText(text: string): Promise<void> {
    if (this.isRunning) return this.editor.tell("a run is being made\n  hint:   wait for it, or cancel it");
    const edit = await this.whileRunning("Reading the text …", () => this.edit(text));
    if (edit === undefined) return;
    const isChanged = edit.patches.length > 0 || edit.movement !== undefined || (edit.resolved !== undefined && edit.names.length > 0);
    this.chosen = { ...asMade(this.data), ...given(edit), ...(isChanged ? { edit } : {}) };
    this.showFields();
    await this.run();
  }

  /** The edit that a text is: Python's, if the page holds it. Throws a `Refusal`. */
  private async edit(text: string): Promise<Edit> {
    return this.resolver === undefined ? editOf(this.data, text) : this.resolver.edit(text);
  }

  /** Does something that can be cancelled; what is wrong with the text is told beside it, and there is no result. */
  private async whileRunning<T>(words_: string, make: () => Promise<T>): Promise<T | undefined> {
    this.setRunning(true);
    this.say(words_);
    this.tell("running");
    try {
      return await make();
    } catch (error) {
      const isCancelled = error instanceof Cancelled;
      this.say(isCancelled ? "The run was cancelled." : "The run was not made: see the text.", !isCancelled);
      if (!isCancelled) this.editor.tell(words(error));
      this.tell(isCancelled ? "cancelled" : error instanceof Refusal ? "refused" : "failed");
      return undefined;
    } finally {
      this.setRunning(false);
    }
  }

  /** The same choices with what Python makes of them, where the text alone or the page's draws do not say it. */
  private async prepared(chosen: Chosen): Promise<Chosen> {
    const changes = this.resolver && changesOf(this.data, chosen);
    if (this.resolver === undefined || changes === undefined) return chosen;
    return { ...chosen, resolved: await this.resolver.resolve(chosen.edit?.text ?? this.data.toml, changes) };
  }

  private cancel(): void {
    this.cancelled++;
    this.engine.cancel();
    this.resolver?.stop();
  }

  /** The choices of all runs that are shown, the run as made first. */
  private shownRuns(): Repeated[] {
    return [{ name: "as made", chosen: asMade(this.data) }, ...this.made.map(({ run, chosen }) => ({ name: run.note.name, chosen }))];
  }

  /** Makes the runs that the address names, if it names any. */
  async restore(): Promise<void> {
    const link = readLink(location.hash);
    const wanted = LINKED.map((key) => link.get(key)).filter((each) => each !== undefined);
    for (const value of wanted) {
      try {
        this.chosen = await choicesOfLink(this.data, value, (text) => this.edit(text));
      } catch (error) {
        this.say(`The link cannot be followed: ${words(error)}`, true);
        return;
      }
      this.editor.show(this.chosen.edit);
      this.showFields();
      await this.run(true);
    }
  }

  private async run(isBeside = false): Promise<void> {
    const chosen = this.read();
    if (chosen === undefined || this.isRunning) return;
    if (differences(this.data, chosen).length === 0) {
      if (this.made.length > 0) await this.reset();
      else this.say("Nothing is changed: choose another protocol, sender, seed or parameter, or move a node.");
      return;
    }
    this.setRunning(true);
    this.say("Running …");
    this.tell("running");
    try {
      const { cancelled } = this;
      const prepared = await this.prepared(chosen);
      if (this.cancelled !== cancelled) throw new Cancelled("the run was cancelled");
      const answer = await this.engine.run(requestOf(this.data, prepared, true), (part) => {
        this.progress.value = part;
      });
      await this.shown(chosen, answer, isBeside && this.made.length < MOST_MADE ? this.made : isBeside ? this.made.slice(0, -1) : []);
      this.say(`Run made in ${(answer.ms / 1000).toPrecision(2)} s.`);
      this.tell("done");
    } catch (error) {
      const isCancelled = error instanceof Cancelled;
      const why = isCancelled ? "The run was cancelled." : `The run was not made: ${words(error)}`;
      this.say(why, !isCancelled);
      if (!isCancelled && chosen.edit !== undefined) this.editor.tell(words(error));
      this.tell(isCancelled ? "cancelled" : "failed");
    }
    this.setRunning(false);
    if (!this.isChecked) void this.check();
  }

  private setRunning(isRunning: boolean): void {
    this.isRunning = isRunning;
    const hadFocus = document.activeElement === (isRunning ? this.runButton : this.cancelButton);
    this.runButton.hidden = isRunning;
    this.cancelButton.hidden = this.progress.hidden = !isRunning;
    if (hadFocus) (isRunning ? this.cancelButton : this.runButton).focus();
    this.progress.value = 0;
  }

  /** Shows a run that was made beside the one as made, and beside others that are kept. */
  private async shown(chosen: Chosen, { result, recording }: Answer, kept: Made[]): Promise<void> {
    const measured = JSON.parse(result) as { totals: Totals };
    const { note, recording: asMade } = this.base;
    const opened = await Recording.open(recording);
    // The engine knows nodes by their numbers.
    const { labels } = asMade.head;
    if (labels !== undefined && labels.length === opened.head.nodes) opened.head.labels ??= labels;
    const { resolved } = chosen.edit ?? {};
    opened.head.provenance ??= resolved === undefined ? asMade.head.provenance : { scenario: JSON.parse(resolved.scenario) as object };
    const run = new Run(opened, noteFor(note, asMade.head, this.data, chosen, opened.head));
    const changed = differences(this.data, chosen);
    const was = changed.map(([each]) => each).filter(Boolean).join(", ");
    note.name = was === "" || kept.length > 0 ? "as made" : `as made: ${was}`;
    this.made = [...kept, { run, chosen, totals: measured.totals, hash: hashOf(result) }];
    const runs = [this.base, ...this.made.map((each) => each.run)];
    sameField(runs);
    await this.showRuns(runs);
    await this.link();
  }

  /** Puts the choices of the runs that are shown into the address that *Copy link* copies. */
  private async link(): Promise<void> {
    const values = await Promise.all(this.made.map(({ chosen }) => choicesToLink(this.data, chosen)));
    this.app.state.choices = values.map((value, i) => [LINKED[i], value]);
  }

  private async showRuns(runs: Run[]): Promise<void> {
    const focused = document.activeElement;
    this.side.remove();
    this.besideButton.hidden = this.made.length === 0;
    this.app = await this.viewer.show(runs, this.app);
    this.showSide();
    if (focused instanceof HTMLElement && this.side.contains(focused)) focused.focus();
    await this.viewer.readAll(this.app);
    this.app.draw();
  }

  /** Goes back to the run as made, alone. */
  private async reset(): Promise<void> {
    this.cancel();
    this.seeds.cancel();
    this.chosen = asMade(this.data);
    this.made = [];
    this.showFields();
    this.editor.show(undefined);
    this.say("");
    await this.showRuns([this.base]);
    await this.link();
    this.tell("ready");
    if (!this.isChecked) await this.check();
  }

  private showFields(): void {
    const { routing, sender, seed } = this.fields;
    routing.selectedIndex = this.chosen.routing;
    sender.selectedIndex = this.chosen.sender;
    seed.value = this.chosen.seed;
    this.controls.show(this.chosen.values, this.chosen.options, this.patches(this.chosen.routing, this.chosen.sender));
  }

  private toggleMoving(): void {
    this.mover.isOn = !this.mover.isOn;
    this.moveButton.setAttribute("aria-pressed", String(this.mover.isOn));
    const how = this.data.isStatic ? "Drag a node to another place." : "Drag a node: its whole path moves with it.";
    this.say(this.mover.isOn ? `${how} Or use the form under Results.` : "");
  }

  private async moveNode(node: number, displacement: Displacement): Promise<void> {
    if (this.isRunning) {
      this.say("Wait for the run, or cancel it, before you move another node.", true);
      return;
    }
    const moved = new Map(this.chosen.moved);
    if (displacement.every((each) => each === 0)) moved.delete(node);
    else moved.set(node, displacement);
    this.chosen = { ...this.chosen, moved };
    this.showSide();
    await this.run();
  }

  /** Results of both runs, nodes that were moved, and the form that moves one. */
  private showSide(): void {
    const { made, config, chosen } = this;
    const parts: HTMLElement[] = [element("div", { class: "head" }, element("h2", {}, "Results"))];
    parts.push(results(config, made));
    const latest = made.at(-1);
    if (latest !== undefined) {
      const hash = element("p", { class: "note", id: "live-hash", "data-hash": latest.hash }, `Result hash of the new run: ${latest.hash.slice(0, HASH_DIGITS)}`);
      hash.title = latest.hash;
      parts.push(hash);
    }
    const list = element("ul", { class: "rows", id: "live-moved" });
    for (const [node, [east, north]] of chosen.moved) {
      const back = button("Put back", () => void this.moveNode(node, [0, 0]), { class: "plain", "aria-label": `Put node ${this.base.nodeName(node)} back` });
      list.append(element("li", { class: "flow" }, element("span", {}, `Node ${this.base.nodeName(node)}: ${metres(east)} m east, ${metres(north)} m north`), back));
    }
    if (chosen.moved.size > 0) parts.push(list);
    parts.push(this.form);
    this.side.replaceChildren(...parts);
    byId("side").prepend(this.side);
  }

  private moveForm(): HTMLElement {
    const number = (label: string, id: string, value: string): [HTMLElement, HTMLInputElement] => {
      const input = element("input", { id, inputmode: "decimal", size: "5", value, autocomplete: "off" });
      return [element("label", {}, element("span", {}, label), input), input];
    };
    const [nodeLabel, node] = number("Node", "move-node", "");
    const [eastLabel, east] = number("m east", "move-east", "0");
    const [northLabel, north] = number("m north", "move-north", "0");
    const form = element("form", { class: "move" }, nodeLabel, eastLabel, northLabel, element("button", {}, "Move and run"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [at, x, y] = [node, east, north].map((each) => (each.value.trim() === "" ? Number.NaN : Number(each.value.replace("−", "-"))));
      if (!Number.isInteger(at) || at < 0 || at >= this.base.nodes) this.say(`Nodes are numbered 0 to ${this.base.nodes - 1}.`, true);
      else if (!Number.isFinite(x) || !Number.isFinite(y)) this.say("A node is moved by a number of metres east and north.", true);
      else void this.moveNode(at, [x, y]);
    });
    return element("details", { id: "live-form" }, element("summary", {}, "Move a node by numbers"), form);
  }

  private say(text: string, isWrong = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("bad", isWrong);
  }

  /** For tests: what the page does. */
  private tell(state: string): void {
    document.documentElement.dataset["live"] = state;
  }
}

/** A list of choices; those of one protocol follow each other. */
function select(id: string, choices: Choice[], isSorted = false): HTMLSelectElement {
  const made = element("select", { id });
  for (const { name } of choices) made.append(element("option", { value: name }, name));
  if (!isSorted && made.options.length > 0) made.options[0].textContent += " (as made)";
  return made;
}

/** All pictures show the same part of the field. */
function sameField(runs: Run[]): void {
  const boxes = runs.map((run) => run.recording.head.bounds_m ?? run.movement.bounds());
  const [least, most] = [Math.min, Math.max].map((of) => [0, 1, 2, 3].map((side) => of(...boxes.map((box) => box[side]))));
  for (const run of runs) run.recording.head.bounds_m = [least[0], least[1], most[2], most[3]];
}

/** The totals of all runs: those that matter most, and the others on demand. */
function results(config: LiveConfig, made: Made[]): HTMLElement {
  const both = [config.totals, ...made.map((each) => each.totals)];
  // A total of 0 is a result, of failures often the one that matters; those that do not apply are not among the metrics.
  const present = config.metrics.filter(({ key }) => both.some((each) => typeof each[key] === "number"));
  const others = element("details", {}, element("summary", {}, "All totals"));
  others.append(table(present.filter((each) => !each.isFirst), config.totals, made));
  return element("div", {}, table(present.filter((each) => each.isFirst), config.totals, made), others);
}

function table(metrics: Metric[], totals: Totals, made: Made[]): HTMLElement {
  const value = (of: Totals, { key, factor, digits }: Metric): string => {
    const found = of[key];
    return found === null || found === undefined ? "–" : (found * factor).toFixed(digits);
  };
  const head = element("tr", {}, element("th", { scope: "col" }, "Total"), element("th", { scope: "col", class: "number" }, "as made"));
  head.append(...made.map(({ run }) => element("th", { scope: "col", class: "number" }, run.note.name)));
  const rows = metrics.map((metric) => {
    const heading = metric.unit === "" ? metric.label : `${metric.label} (${metric.unit})`;
    const row = element("tr", { "data-key": metric.key }, element("th", { scope: "row" }, heading));
    for (const of of [totals, ...made.map((each) => each.totals)]) row.append(element("td", { class: "number" }, value(of, metric)));
    return row;
  });
  return element("table", { class: "results" }, element("thead", {}, head), element("tbody", {}, ...rows));
}

function metres(value: number): string {
  return `${value < 0 ? "−" : ""}${Math.abs(value)}`;
}

function hashOf(result: string): string {
  return (JSON.parse(result) as { result_hash: string }).result_hash;
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
