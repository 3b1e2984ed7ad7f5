// The page: reads the runs that it holds, and plays them in step.

import { fromBase64 } from "./bytes";
import { Clock, FASTEST, linkTime, parseTime, readLink, SLOWEST, speedAt, speedText, stopOf, STOPS, timeText } from "./clock";
import { byId, element } from "./dom";
import { save, savePng } from "./enlarge";
import { canFilm, Film } from "./film";
import { inspection } from "./inspect";
import { type LiveConfig, startLive } from "./live";
import { NONE, Run, type RunNote } from "./model";
import { nextMoment } from "./moments";
import { Chosen, cursorAt, Events, filters } from "./panels";
import { Recording } from "./recording";
import { readShown, shownInLink } from "./shown_link";
import { Stage } from "./stage";
import { store, stored } from "./storage";
import { StallStrip, StallTable } from "./stall_views";
import { State } from "./state";
import { DARK, LIGHT, type Theme } from "./theme";
import { Activity, Queue, Sequence, Window } from "./timeline";
import { eventText, reasonText } from "./words";

/** What the page is told beside the recordings. */
interface Config {
  runs: RunNote[];
  /** If the page can make runs: see live.ts. */
  live?: LiveConfig;
}

/** Longer addresses are cut by some browsers and most programs that people send them with. */
const LONGEST_LINK = 30_000;
const THEMES = ["system", "light", "dark"] as const;
type ThemeName = (typeof THEMES)[number];

class App {
  private readonly stages: Stage[];
  private readonly cursors: number[];
  private readonly strips: { draw(theme: Theme): void; root: HTMLElement }[];
  private readonly chosen: Chosen;
  private readonly events: Events;
  private readonly stalls: StallTable;
  private film: Film | undefined;
  private theme: Theme = LIGHT;
  private themeName: ThemeName = "system";
  private isDirty = true;
  private before = 0;
  private announced = 0;
  /** The flow that is plotted unless somebody chooses another. */
  private readonly usualFlow: number;
  /** Ends what listens to the page when other runs are shown. */
  private readonly ending = new AbortController();
  /** Pictures drawn, and the time that they took in ms. */
  readonly cost = { pictures: 0, ms: 0 };

  constructor(
    readonly runs: Run[],
    readonly state: State,
    isPlain: boolean,
  ) {
    this.usualFlow = state.flow;
    document.body.classList.toggle("two", runs.length > 1);
    document.body.classList.toggle("four", runs.length > 2);
    this.stages = runs.map((run, i) => new Stage(run, i, state, isPlain, runs.length > 1));
    this.cursors = runs.map(() => -1);
    byId("stages").append(...this.stages.map((each) => each.root));
    const filtered = this.stages.map((each) => each.filtered);
    const hasWindows = runs.some((run) => run.flows.some((each) => each.kind !== "cbr"));
    const plots = [Sequence, ...(hasWindows ? [Window] : []), Queue, StallStrip].map((Kind) => new Kind(runs, filtered, state));
    byId("plots").append(...plots.map((each) => each.root));
    this.strips = [new Activity(byId("timeline"), runs, filtered, state), ...plots];
    const side = byId("side");
    filters(side, runs, state);
    this.chosen = new Chosen(side, this.stages, state);
    this.events = new Events(side, this.stages, state, this.cursors);
    this.stalls = new StallTable(side, runs, state);
    this.about(side);
    this.controls();
    this.keys();
    this.chooseTheme((stored("manetlab-theme") ?? null) as ThemeName | null);
    state.onChange(() => (this.isDirty = true));
    const { signal } = this.ending;
    const resized = new ResizeObserver(() => (this.isDirty = true));
    for (const each of [document.body, byId("stages")]) resized.observe(each);
    signal.addEventListener("abort", () => resized.disconnect());
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.chooseTheme(this.themeName), { signal });
    window.addEventListener("hashchange", () => this.readLink(), { signal });
    state.changed();
    requestAnimationFrame((now) => this.tick(now));
  }

  get stageList(): readonly Stage[] {
    return this.stages;
  }

  /** Ends it, so that the page can show other runs: what it put into the page is taken out again. */
  dispose(): void {
    this.film?.stop();
    byId("film").setAttribute("aria-pressed", "false");
    this.ending.abort();
    for (const { renderer } of this.stages) renderer.release();
    byId("main").replaceWith(EMPTY_MAIN.cloneNode(true));
  }

  private tick(now: number): void {
    if (this.ending.signal.aborted) return;
    const { state } = this;
    const { clock } = state;
    if (clock.isPlaying) {
      // Never past what has been read, and not far at once after a pause of the page.
      if (this.runs.every((run) => run.hasRead(clock.t))) {
        clock.advance(Math.min(0.1, (now - this.before) / 1000));
        clock.seek(Math.min(clock.t, ...this.runs.map((run) => run.readUpTo)));
      }
      state.follow();
      this.isDirty = true;
      if (!clock.isPlaying) state.changed();
    }
    this.before = now;
    if (this.isDirty) this.draw(now);
    requestAnimationFrame((next) => this.tick(next));
  }

  draw(now = performance.now()): void {
    const began = performance.now();
    this.isDirty = false;
    for (const run of this.runs) run.turnTo(this.state.clock.t);
    for (const stage of this.stages) stage.draw(this.theme);
    this.stages.forEach((stage, i) => {
      // A step may stand at one of several events of the same time.
      const last = cursorAt(stage, this.state.clock.t);
      const at = this.cursors[i];
      const { events } = stage.filtered;
      const isHere = this.state.isExact && at >= 0 && at <= last && stage.run.order.columns.t[events[at]] === this.state.clock.t;
      if (!isHere) this.cursors[i] = last;
    });
    this.film?.take(this.picture());
    for (const strip of this.strips) strip.draw(this.theme);
    this.chosen.update(now);
    this.events.update(now);
    this.stalls.update();
    this.showControls();
    this.cost.pictures++;
    this.cost.ms += performance.now() - began;
  }

  /** Waits until the graphics have carried out what was asked of them. */
  finish(): void {
    for (const { renderer } of this.stages) renderer.finish();
  }

  private controls(): void {
    const { state } = this;
    const { clock } = state;
    const on = (id: string, action: () => void): void => byId(id).addEventListener("click", action, { signal: this.ending.signal });
    on("play", () => this.playOrPause());
    on("back", () => this.step(-1));
    on("on", () => this.step(1));
    on("zoom-in", () => state.zoom(0.5, clock.t));
    on("zoom-out", () => state.zoom(2, clock.t));
    on("zoom-all", () => state.zoom(Infinity, clock.t));
    on("theme", () => this.chooseTheme(THEMES[(THEMES.indexOf(this.themeName) + 1) % THEMES.length]));
    on("help-open", () => byId<HTMLDialogElement>("help").showModal());
    on("copy", () => this.copyLink());
    on("picture", () => this.savePicture());
    on("film", () => this.toggleFilm());
    byId("film").hidden = !canFilm();
    on("matters", () => this.nextMoment());
    on("plots-fold", () => {
      const plots = byId("plots");
      plots.hidden = !plots.hidden;
      byId("plots-fold").setAttribute("aria-expanded", String(!plots.hidden));
      state.changed();
    });
    const speed = byId<HTMLInputElement>("speed");
    speed.max = String(STOPS);
    speed.addEventListener("input", () => {
      clock.speed = speedAt(Number(speed.value));
      state.changed();
    });
    const time = byId<HTMLInputElement>("time");
    time.addEventListener("change", () => {
      const t = parseTime(time.value);
      time.setAttribute("aria-invalid", String(t === undefined));
      if (t !== undefined) this.seek(t);
    });
    byId("timeline").addEventListener("pointerup", () => this.announceState());
  }

  private showControls(): void {
    const { clock } = this.state;
    const play = byId("play");
    const label = clock.isPlaying ? "Pause" : "Play";
    if (play.getAttribute("aria-label") !== label) {
      play.setAttribute("aria-label", label);
      byId("play-icon").setAttribute("d", clock.isPlaying ? "M3.5 2.5h3.2v11H3.5zM9.3 2.5h3.2v11H9.3z" : "M4 2.5v11l9-5.5z");
    }
    const time = byId<HTMLInputElement>("time");
    if (document.activeElement !== time) time.value = timeText(clock.t);
    const speed = byId<HTMLInputElement>("speed");
    if (byId("speed-text").textContent === speedText(clock.speed)) return;
    speed.value = String(stopOf(clock.speed));
    speed.setAttribute("aria-valuetext", speedText(clock.speed));
    byId("speed-text").textContent = speedText(clock.speed);
  }

  playOrPause(): void {
    const { clock } = this.state;
    if (clock.isPlaying) clock.isPlaying = false;
    else {
      clock.play();
      this.state.isExact = false;
    }
    this.state.changed();
    if (!clock.isPlaying) this.announceState();
  }

  /** Goes to the next or previous event that passes the filter, of either run. */
  step(direction: 1 | -1): void {
    const { state } = this;
    state.clock.isPlaying = false;
    let [best, time] = [-1, direction * Infinity];
    this.stages.forEach((stage, i) => {
      const { events } = stage.filtered;
      const isAt = this.cursors[i] >= 0 && stage.run.order.columns.t[events[this.cursors[i]]] === state.clock.t;
      // Backwards from between two events leads to the one before, not past it.
      const to = direction === 1 ? this.cursors[i] + 1 : isAt ? this.cursors[i] - 1 : this.cursors[i];
      if (to < 0 || to >= events.length) return;
      const t = stage.run.order.columns.t[events[to]];
      if (direction * t < direction * time) [best, time] = [i, t];
    });
    if (best < 0) {
      const isAll = this.runs.every((run) => run.isComplete);
      const which = direction === 1 ? "later" : "earlier";
      this.announce(isAll ? `There is no ${which} event.` : `No ${which} event has been read yet.`);
      return;
    }
    const { clock } = state;
    const isAt = this.cursors[best] >= 0 && this.eventTime(best, this.cursors[best]) === clock.t;
    this.cursors[best] += direction === 1 || isAt ? direction : 0;
    clock.seek(time);
    state.isExact = true;
    state.follow();
    state.changed();
    const { run, filtered } = this.stages[best];
    const event = run.event(filtered.events[this.cursors[best]]);
    const who = this.runs.length > 1 ? `${run.note.name}, ` : "";
    this.announce(`${timeText(time)}: ${who}node ${run.nodeName(run.nodeOf(event))}: ${eventText(run, event)}`);
  }

  private eventTime(run: number, at: number): number {
    const stage = this.stages[run];
    return stage.run.order.columns.t[stage.filtered.events[at]];
  }

  /** Goes to the next loss that passes the filter. */
  nextDrop(): void {
    const { clock } = this.state;
    let time = Infinity;
    for (const { run, filtered } of this.stages) {
      const { t } = run.hops.columns;
      for (const row of filtered.drops) {
        if (t[row] <= clock.t) continue;
        time = Math.min(time, t[row]);
        break;
      }
    }
    if (time === Infinity) this.announce("There is no later loss.");
    else this.seek(time);
  }

  /** Goes to what mattered next: a loss, a timeout of a TCP sender, or a flow that stalls. */
  nextMoment(): void {
    const { clock, filter } = this.state;
    const found = this.stages.flatMap(({ run, filtered }) => {
      const next = nextMoment(run, filtered.drops, filter.flows, clock.t);
      const who = this.runs.length > 1 ? `${run.note.name}, ` : "";
      return next === undefined ? [] : [{ t: next.t, what: `${who}${next.what}` }];
    });
    const [next] = found.sort((a, b) => a.t - b.t);
    const where = byId("mattered");
    if (next === undefined) {
      where.textContent = "No later loss, timeout or stall.";
      this.announce(where.textContent);
      return;
    }
    this.seek(next.t);
    where.textContent = next.what;
    this.announce(`${timeText(next.t)}: ${next.what}`);
  }

  /** Saves the pictures of all runs, side by side. */
  private savePicture(): void {
    for (const stage of this.stages) stage.draw(this.theme);
    savePng(this.picture(), `network-${linkTime(this.state.clock.t)}s`);
  }

  /** The pictures of all runs, which have just been drawn, side by side. */
  private picture(): HTMLCanvasElement {
    const made = this.stages.map((stage) => stage.copy(this.theme, this.runs.length > 1 ? stage.run.note.name : ""));
    const width = made.reduce((sum, each) => sum + each.width, 0);
    const all = element("canvas", { width: String(width), height: String(Math.max(...made.map((each) => each.height))) });
    const context = all.getContext("2d");
    let x = 0;
    for (const each of made) {
      context?.drawImage(each, x, 0);
      x += each.width;
    }
    return all;
  }

  /** Begins a film of what is played, or ends it and saves it. */
  private toggleFilm(): void {
    const shown = byId("film");
    if (this.film === undefined) {
      this.draw();
      const { width, height } = this.picture();
      const name = `network-from-${linkTime(this.state.clock.t)}s.webm`;
      this.film = new Film(width, height, (film) => save(name, film));
      if (!this.state.clock.isPlaying) this.playOrPause();
    } else {
      this.film.stop();
      this.film = undefined;
    }
    shown.setAttribute("aria-pressed", String(this.film !== undefined));
    this.announce(this.film === undefined ? "Film saved" : "The film begins");
  }

  seek(t: number): void {
    byId("mattered").textContent = "";
    const { state } = this;
    state.clock.isPlaying = false;
    state.clock.seek(t);
    state.isExact = true;
    state.follow();
    state.changed();
    this.announceState();
  }

  private keys(): void {
    const actions: Record<string, (event: KeyboardEvent) => void> = {
      " ": () => this.playOrPause(),
      ArrowRight: (event) => this.arrow(1, event.shiftKey),
      ArrowLeft: (event) => this.arrow(-1, event.shiftKey),
      d: () => this.nextDrop(),
      m: () => this.nextMoment(),
      "<": () => this.faster(-1),
      ",": () => this.faster(-1),
      ">": () => this.faster(1),
      ".": () => this.faster(1),
      "+": () => this.state.zoom(0.5, this.state.clock.t),
      "=": () => this.state.zoom(0.5, this.state.clock.t),
      "-": () => this.state.zoom(2, this.state.clock.t),
      "0": () => this.state.zoom(Infinity, this.state.clock.t),
      Home: () => this.seek(0),
      End: () => this.seek(this.state.clock.end),
      "/": () => byId("nodes").focus(),
      "?": () => byId<HTMLDialogElement>("help").showModal(),
      Escape: () => this.clear(),
    };
    document.addEventListener("pointerdown", () => (this.isByPointer = true), { capture: true, signal: this.ending.signal });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Tab") this.isByPointer = false;
      if (event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("help").open) return;
      const target = event.target as HTMLElement;
      const type = target instanceof HTMLInputElement ? target.type : "";
      const isText = type !== "" && type !== "checkbox" && !(type === "range" && !event.key.startsWith("Arrow"));
      if (isText && event.key !== "Escape") return;
      // Who goes from button to button by keys presses them with the space bar.
      if (event.key === " " && (target instanceof HTMLButtonElement || type === "checkbox") && !this.isByPointer) return;
      const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    }, { signal: this.ending.signal });
  }

  /** Was what has the focus chosen with the pointer? Then the space bar plays and pauses. */
  private isByPointer = false;

  private arrow(direction: 1 | -1, isFar: boolean): void {
    const { state } = this;
    if (isFar) this.seek(state.clock.t + direction * Math.round((state.to - state.from) / 10));
    else this.step(direction);
  }

  private faster(stops: number): void {
    const { clock } = this.state;
    clock.speed = Math.min(FASTEST, Math.max(SLOWEST, speedAt(stopOf(clock.speed) + stops)));
    this.announce(`Speed ${speedText(clock.speed)}`);
    this.state.changed();
  }

  private clear(): void {
    const { state } = this;
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    state.selected = state.destination = NONE;
    state.packet = undefined;
    state.changed();
  }

  chooseTheme(name: ThemeName | null): void {
    this.themeName = THEMES.find((each) => each === name) ?? "system";
    const isDark =
      this.themeName === "dark" ||
      (this.themeName === "system" && window.matchMedia("(prefers-color-scheme: dark)").matches);
    this.theme = isDark ? DARK : LIGHT;
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
    byId("theme").textContent = `Theme: ${this.themeName}`;
    store("manetlab-theme", this.themeName);
    this.isDirty = true;
  }

  /** The address of this page at this moment. */
  link(): string {
    const { state } = this;
    const parts = [`t=${linkTime(state.clock.t)}`];
    if (state.selected >= 0) parts.push(`node=${state.selected}`);
    if (state.destination >= 0) parts.push(`to=${state.destination}`);
    if (state.packet !== undefined) {
      parts.push(`packet=${state.packet.uid}`);
      if (state.packet.run > 0) parts.push(`run=${state.packet.run}`);
    }
    if (state.clock.speed !== 1) parts.push(`speed=${state.clock.speed}`);
    parts.push(...shownInLink(state, this.usualFlow));
    return `${location.href.replace(/#.*$/, "")}#${parts.join("&")}`;
  }

  private copyLink(): void {
    const link = this.link();
    if (link.length > LONGEST_LINK) return this.announce("The scenario is too long for a link: save it as a file.");
    history.replaceState(null, "", link);
    const done = (text: string): void => {
      byId("copy").textContent = text;
      this.announce(text);
      setTimeout(() => (byId("copy").textContent = "Copy link"), 1600);
    };
    navigator.clipboard?.writeText(link).then(
      () => done("Link copied"),
      () => done("Link in address bar"),
    ) ?? done("Link in address bar");
  }

  readLink(): void {
    const link = readLink(location.hash);
    const { state } = this;
    const number = (key: string, below: number): number => {
      const value = Number(link.get(key) ?? Number.NaN);
      return Number.isInteger(value) && value >= 0 && value < below ? value : NONE;
    };
    const t = parseTime(link.get("t") ?? "");
    if (link.has("node")) state.selected = number("node", this.runs[0].nodes);
    if (link.has("to")) state.destination = number("to", this.runs[0].nodes);
    const uid = number("packet", Number.MAX_SAFE_INTEGER);
    if (uid >= 0) state.packet = { run: Math.max(0, number("run", this.runs.length)), uid };
    const speed = Number(link.get("speed") ?? Number.NaN);
    if (speed >= SLOWEST && speed <= FASTEST) state.clock.speed = speedAt(stopOf(speed));
    readShown(link, state, this.runs[0].flows.map(({ id }) => id));
    state.filterChanged();
    if (t !== undefined) this.seek(t);
    else state.changed();
  }

  announce(text: string): void {
    byId("announce").textContent = text;
    this.announced++;
  }

  /** Says what is to be seen, for those who don't see it. */
  announceState(): void {
    const { t } = this.state.clock;
    const parts = this.stages.map(({ run, filtered }) => {
      const name = this.runs.length > 1 ? `${run.note.name}: ` : "";
      if (!run.hasRead(t)) return `${name}not read yet`;
      run.turnTo(t);
      filtered.apply(this.state.filter, this.state.filterVersion);
      const air = run.onAir(t).length;
      const { t: times, reason, node } = run.hops.columns;
      const drops = Array.from(filtered.drops).filter((row) => times[row] === t);
      const dropped = drops.map((row) => `, node ${run.nodeName(node[row])} drops a packet: ${reasonText(run.words[reason[row]])}`);
      return `${name}${air} ${air === 1 ? "frame" : "frames"} on the air${dropped.join("")}`;
    });
    this.announce(`${timeText(t, 6)}: ${parts.join("; ")}`);
  }

  private about(side: HTMLElement): void {
    byId("facts").textContent = shared(this.runs).join(" · ");
    const made = element("section", {}, element("div", { class: "head" }, element("h2", {}, "The run")));
    for (const { note } of this.runs) {
      if (this.runs.length > 1) made.append(element("p", { class: "note" }, note.name));
      const list = element("dl");
      for (const [term, value] of note.facts) list.append(element("dt", {}, term), element("dd", {}, value));
      made.append(list);
      for (const each of note.missing) made.append(element("p", { class: "note" }, each));
    }
    side.append(made);
  }
}

/** What is so in all runs. */
function shared(runs: Run[]): string[] {
  return runs[0].note.summary.filter((each) => runs.every((run) => run.note.summary.includes(each)));
}

/** How often the picture is renewed while blocks are read, in ms. */
const REDRAW_MS = 400;
const LONGEST_PAINT_MS = 250;

/** The page without a run. */
const EMPTY_MAIN = byId("main").cloneNode(true);

/** Shows runs in place of those that were shown, at the same moment. */
async function show(runs: Run[], before?: App): Promise<App> {
  const state = new State(new Clock(Math.max(...runs.map((run) => run.duration))));
  state.flow = (runs[0].flows.find((each) => each.kind !== "cbr") ?? runs[0].flows[0])?.id ?? NONE;
  const link = readLink(location.hash);
  if (before === undefined) state.clock.seek(parseTime(link.get("t") ?? "") ?? 0);
  else state.continue(before.state);
  // The blocks around a moment are enough for a first picture.
  await Promise.all(runs.map((run) => readAround(run, state.clock.t)));
  before?.dispose();
  const isPlain = new URLSearchParams(location.search).has("plain") || link.has("plain");
  const app = new App(runs, state, isPlain);
  if (before === undefined) {
    app.readLink();
    if (!link.has("t")) beginWhereSomethingHappens(runs, state);
  }
  app.draw();
  Object.assign(window, { manetlabReplay: inspection(app, runs, state) });
  await painted();
  document.documentElement.dataset["drawn"] ??= String(Math.round(performance.now()));
  return app;
}

/** Goes to the first data frame of the flows, of what has been read: before it there is little to see. */
function beginWhereSomethingHappens(runs: Run[], state: State): void {
  const times = runs.map((run) => run.firstData(0)).filter((each) => each !== undefined);
  if (times.length > 0) state.clock.seek(Math.min(...times));
}

/** Reads the rest of the runs that are shown. */
async function readAll(app: App): Promise<void> {
  const { runs, state } = app;
  let drawn = performance.now();
  while (runs.some((run) => !run.isComplete)) {
    const { t } = state.clock;
    const hadRead = runs.every((run) => run.hasRead(t));
    for (const run of runs) await run.readNext(t);
    // Lets the page answer between two blocks, and shows now and then how far it has come.
    await new Promise((next) => setTimeout(next));
    const isAwaited = !hadRead && runs.every((run) => run.hasRead(t));
    if (!isAwaited && performance.now() - drawn < REDRAW_MS) continue;
    drawn = performance.now();
    state.changed();
    if (isAwaited && state.clock.t === t) app.announceState();
  }
  state.changed();
}

async function start(): Promise<void> {
  const config = JSON.parse(byId("config").textContent ?? "{}") as Config;
  const runs = await Promise.all(
    config.runs.map(async (note, i) => {
      const data = byId(`run-${i}`);
      const run = new Run(await Recording.open(fromBase64((data.textContent ?? "").trim())), note);
      data.remove();
      return run;
    }),
  );
  const app = await show(runs);
  await readAll(app);
  app.draw();
  if (isToPlay()) app.playOrPause();
  document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
  if (config.live !== undefined) await startLive(config.live, runs[0], app, { show, readAll });
}

/** Does the link ask for a page that plays by itself? Never for people who want nothing to move. */
function isToPlay(): boolean {
  return readLink(location.hash).has("play") && !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Reads until the block of a time in ns is there. */
async function readAround(run: Run, t: number): Promise<void> {
  while ((await run.readNext(t)) && !run.hasRead(t));
}

/** Waits until the browser has shown what was drawn; a page that nobody sees shows nothing, and goes on. */
function painted(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, LONGEST_PAINT_MS);
  });
}

start().catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  document.body.append(element("p", { class: "failure", role: "alert" }, `The replay cannot be shown: ${text}.`));
  document.documentElement.dataset["failed"] = text;
  console.error(error);
});

export type { App };
