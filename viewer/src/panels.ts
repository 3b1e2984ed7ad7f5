// The side: legend and filters, flows, what is chosen, and the list of events.

import { button, element, replaceKeepingFocus } from "./dom";
import { type Kind, parseNodes } from "./filters";
import { BROADCAST, type EventRef, FRAMES, HOPS, NONE, type Run } from "./model";
import type { Stage } from "./stage";
import type { State } from "./state";
import { firstAbove } from "./search";
import { eventText, packetText } from "./words";
import { timeText } from "./clock";

const KIND_NAMES: [Kind, string, string][] = [
  ["data", "Data", "frames that carry a flow’s packets"],
  ["routing", "Routing", "frames of the routing protocol"],
  ["arp", "ARP", "frames of address resolution"],
  ["control", "MAC control", "RTS, CTS and ACK"],
  ["drops", "Losses", "packets that are lost"],
  ["packets", "Packet steps", "packets made, sent, delivered; copies dropped without a loss"],
  ["routes", "Routes", "changes of next hops, and notices"],
  ["windows", "Windows", "changes of TCP senders’ windows, in the list"],
  ["queues", "Queue lengths", "changes of queues, in the list"],
];

const SVG = "http://www.w3.org/2000/svg";

/** A small picture of how a kind is drawn. */
function swatch(kind: string): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  const color = `var(--${kind})`;
  const ring = `<circle cx="8" cy="8" r="6" fill="none" stroke="${color}" stroke-width="2"/><circle cx="8" cy="8" r="2.4" fill="${color}"/>`;
  const shapes: Record<string, string> = {
    drops: '<path d="M4 4l8 8M12 4l-8 8" stroke="var(--drop)" stroke-width="2.4" fill="none"/>',
    packets: '<path d="M3 5h10v7H3z M3 5l5 4 5-4" fill="none" stroke="var(--muted)" stroke-width="1.4"/>',
    routes: '<path d="M2 8h9" stroke="var(--route)" stroke-width="2"/><path d="M9 4l5 4-5 4z" fill="var(--route)"/>',
    windows: '<path d="M2 12l4-6v4l4-6v4l4-5" fill="none" stroke="var(--data)" stroke-width="1.4"/>',
    links: '<path d="M3 13L8 3l5 10z" fill="none" stroke="var(--line)" stroke-width="1.6"/>',
    queues: '<rect x="6" y="2" width="4" height="12" fill="none" stroke="var(--data)"/><rect x="6" y="7" width="4" height="7" fill="var(--data)"/>',
    received: '<circle cx="8" cy="8" r="5" fill="none" stroke="var(--data)" stroke-width="1.8"/>',
    collided: '<path d="M4 4l8 8M12 4l-8 8" stroke="var(--collision)" stroke-width="2.2" fill="none"/>',
    deaf: '<rect x="4" y="4" width="8" height="8" fill="none" stroke="var(--muted)" stroke-width="1.6"/>',
  };
  svg.innerHTML = shapes[kind] ?? ring;
  return svg;
}

function section(title: string, ...more: (Node | string)[]): HTMLElement {
  return element("section", {}, element("div", { class: "head" }, element("h2", {}, title), ...more));
}

/** What is shown, by kind, by flow, by node. */
export function filters(side: HTMLElement, runs: Run[], state: State): void {
  const shown = section("Show");
  const list = element("ul", { class: "rows kinds" });
  for (const [kind, name, meaning] of KIND_NAMES) {
    const box = element("input", { type: "checkbox", "data-kind": kind });
    box.checked = state.filter.kinds[kind];
    box.addEventListener("change", () => {
      state.filter.kinds[kind] = box.checked;
      state.filterChanged();
    });
    state.onChange(() => (box.checked = state.filter.kinds[kind]));
    list.append(element("li", {}, element("label", { title: meaning }, box, swatch(kind), element("span", {}, name))));
  }
  if (runs[0].linksAreRanges) list.append(linksBox(state));
  const marks = element("ul", { class: "marks" });
  for (const outcome of ["received", "collided", "deaf"]) {
    const text = outcome === "deaf" ? "deaf: transmitting" : outcome;
    marks.append(element("li", {}, swatch(outcome), text));
  }
  shown.append(list, marks, nodeField(runs[0], state));
  side.append(shown);
  if (runs[0].flows.length > 0) side.append(flowList(runs[0], state));
}

/** Whether lines are drawn between nodes within range of each other. */
function linksBox(state: State): HTMLElement {
  const box = element("input", { type: "checkbox", id: "links" });
  box.checked = state.showsLinks;
  state.onChange(() => (box.checked = state.showsLinks));
  box.addEventListener("change", () => {
    state.showsLinks = box.checked;
    state.changed();
  });
  const label = element("label", { title: "pairs of nodes within range of each other" }, box, swatch("links"), element("span", {}, "Links"));
  return element("li", {}, label);
}

function nodeField(run: Run, state: State): HTMLElement {
  const input = element("input", { id: "nodes", placeholder: run.recording.head.labels === undefined ? "all; for example 3, 7-12" : `all; for example ${run.nodeName(0)}`, autocomplete: "off" });
  const error = element("span", { class: "error", role: "alert" });
  input.addEventListener("input", () => {
    const found = parseNodes(input.value, run.nodes, run.recording.head.labels);
    error.textContent = typeof found === "string" ? found : "";
    input.setAttribute("aria-invalid", String(typeof found === "string"));
    if (typeof found === "string") return;
    state.filter.nodes = found;
    // One node is also chosen: so it can be reached without a pointer.
    if (found?.size === 1) state.selected = [...found][0];
    state.filterChanged();
  });
  return element("label", { class: "field" }, element("span", {}, "Nodes"), input, error);
}

function flowList(run: Run, state: State): HTMLElement {
  const boxes = new Map<number, HTMLInputElement>();
  const all = button("all", () => {
    state.filter.flows = null;
    for (const box of boxes.values()) box.checked = true;
    state.filterChanged();
  }, { class: "plain", title: "Show all flows, and what belongs to none" });
  const isLong = run.flows.length > FLOWS_IN_SIGHT;
  const made = section(isLong ? `Flows: ${run.flows.length}` : "Flows", all);
  const rows = element("ul", { class: isLong ? "rows long" : "rows", id: "flow-rows" });
  for (const { id, kind, src, dst } of run.flows) {
    const box = element("input", { type: "checkbox", "aria-label": `Show flow ${id}` });
    box.checked = true;
    boxes.set(id, box);
    state.onChange(() => (box.checked = state.filter.flows === null || state.filter.flows.has(id)));
    box.addEventListener("change", () => {
      const chosen = run.flows.filter((each) => boxes.get(each.id)?.checked).map((each) => each.id);
      state.filter.flows = chosen.length === run.flows.length ? null : new Set(chosen);
      state.filterChanged();
    });
    const plot = button("plot", () => {
      state.flow = id;
      state.changed();
    }, { class: "plain", "aria-label": `Plot flow ${id}`, "data-flow": String(id) });
    state.onChange(() => plot.setAttribute("aria-pressed", String(state.flow === id)));
    const text = `${id}: ${kind.toUpperCase()} ${run.nodeName(src)} → ${run.nodeName(dst)}`;
    const name = element("span", { title: text }, text);
    rows.append(element("li", { class: "flow" }, element("label", {}, box, name), plot));
  }
  made.append(rows);
  if (isLong) made.append(element("p", { class: "note" }, `Scroll the list to see all ${run.flows.length} flows.`));
  return made;
}

/** A node by its name, and by its number if that differs. */
function numbered(run: Run, node: number): string {
  const name = run.nodeName(node);
  return name === String(node) ? name : `${name} (number ${node})`;
}

/** So many flows are seen without scrolling their list. */
const FLOWS_IN_SIGHT = 6;

/** The node or the packet that is chosen. */
export class Chosen {
  private readonly root = section("Chosen");
  private readonly body = element("div");
  private shown = "";
  private last = 0;

  constructor(
    side: HTMLElement,
    private readonly stages: Stage[],
    private readonly state: State,
  ) {
    this.root.append(this.body);
    this.root.hidden = true;
    side.append(this.root);
  }

  update(now: number): void {
    const { state } = this;
    if (state.clock.isPlaying && now - this.last < EVERY_MS) return;
    this.last = now;
    const { selected, packet, destination, clock } = state;
    const key = [selected, packet?.run, packet?.uid, destination, clock.t, this.stages.map((each) => each.run.version)].join();
    if (key === this.shown) return;
    this.shown = key;
    this.root.hidden = selected < 0 && packet === undefined && destination < 0;
    const parts = [];
    if (selected >= 0 || destination >= 0) parts.push(this.node());
    if (packet !== undefined) parts.push(this.journey());
    replaceKeepingFocus(this.body, ...parts);
  }

  private node(): HTMLElement {
    const { state } = this;
    const made = element("div");
    const { selected, clock } = state;
    if (selected >= 0) {
      const { run: first } = this.stages[0];
      const list = element("dl", { "aria-label": `Node ${first.nodeName(selected)}` });
      const add = (term: string, value: string): void =>
        list.append(element("dt", {}, term), element("dd", {}, value));
      add("Node", numbered(first, selected));
      const values = (of: (run: Run) => string): string => this.stages.map(({ run }) => of(run)).join(" | ");
      add("Position", values((run) => run.movement.position(selected, clock.t).map((each) => each.toFixed(1)).join(", ") + " m"));
      if (first.movement.height(selected, clock.t) !== undefined)
        add("Height", values((run) => `${(run.movement.height(selected, clock.t) ?? 0).toFixed(1)} m`));
      if (!first.movement.isPresent(selected, clock.t)) add("Presence", "not there at this time");
      add("Queue", values((run) => `${run.queueAt(selected, clock.t)} packets`));
      for (const dst of this.stages[0].run.destinations.slice(0, 8)) {
        const hops = values((run) => {
          const next = run.nextHops(dst, clock.t)[selected];
          return next < 0 ? "none" : run.nodeName(next);
        });
        if (dst !== selected) add(`Next hop to ${first.nodeName(dst)}`, hops);
      }
      made.append(list);
    }
    const actions = element("div", { class: "actions" });
    const { run } = this.stages[0];
    const { destinations } = run;
    if (selected >= 0 && selected !== state.destination && destinations.includes(selected)) {
      actions.append(button(`Show next hops to ${run.nodeName(selected)}`, () => {
        state.destination = selected;
        state.changed();
      }));
    }
    if (state.destination >= 0) {
      actions.append(button(`Hide next hops to ${run.nodeName(state.destination)}`, () => {
        state.destination = NONE;
        state.changed();
      }));
    }
    made.append(actions);
    return made;
  }

  private journey(): HTMLElement {
    const { state } = this;
    const { packet } = state;
    const stage = this.stages[packet?.run ?? 0];
    const { run } = stage;
    const uid = packet?.uid ?? NONE;
    const shape = run.packet(uid);
    const events = stage.chosen();
    const table = element("table", { class: "journey" });
    const route = shape === undefined ? "" : `, ${run.nodeName(shape.src)} → ${shape.dst === BROADCAST ? "all" : run.nodeName(shape.dst)}`;
    const caption = `Journey of packet ${uid}: ${packetText(shape, uid)}${route}`;
    table.append(element("caption", {}, caption), head());
    const body = element("tbody");
    for (const event of events.slice(0, 400)) body.append(row(run, event, state, packet?.run ?? 0, false));
    table.append(body);
    const made = element("div", {}, table);
    if (events.length > 400) made.append(element("p", { class: "note" }, `${events.length - 400} further events are not listed.`));
    made.append(
      element(
        "div",
        { class: "actions" },
        button("To its start", () => {
          if (events.length === 0) return;
          state.clock.isPlaying = false;
          state.clock.seek(run.timeOf(events[0]));
          state.isExact = true;
          state.changed();
        }),
        button("Leave the packet", () => {
          state.packet = undefined;
          state.changed();
        }),
      ),
    );
    return made;
  }
}

function head(): HTMLElement {
  const row = element("tr", {}, ...["Time", "Node", "What"].map((each) => element("th", { scope: "col" }, each)));
  return element("thead", {}, row);
}

const COLORS = ["data", "routing", "arp", "control"];

/** An event as a row of a table. */
function row(run: Run, event: EventRef, state: State, runNumber: number, isCurrent: boolean): HTMLElement {
  const t = run.timeOf(event);
  const isDrop = event.table === HOPS && run.isLoss(event.row);
  const dot = element("span", { class: "dot", "aria-hidden": "true" });
  dot.style.background = "transparent";
  if (event.table === FRAMES) dot.style.background = `var(--${COLORS[run.frames.columns.carries[event.row]]})`;
  else if (isDrop) dot.style.background = "var(--drop)";
  const go = element("button", { type: "button", class: "row" }, dot, eventText(run, event));
  const made = element(
    "tr",
    {},
    element("td", {}, timeText(t).replace(" s", "")),
    element("td", {}, run.nodeName(run.nodeOf(event))),
    element("td", {}, go),
  );
  if (isCurrent) made.setAttribute("aria-current", "true");
  if (t > state.clock.t) made.classList.add("future");
  if (isDrop) made.classList.add("bad");
  made.addEventListener("click", () => choose(run, event, state, runNumber));
  return made;
}

/** Goes to an event, and follows its packet if it has one. */
export function choose(run: Run, event: EventRef, state: State, runNumber: number): void {
  state.clock.isPlaying = false;
  state.clock.seek(run.timeOf(event));
  state.isExact = true;
  const uids = event.table === FRAMES ? run.frames.columns.uid : event.table === HOPS ? run.hops.columns.uid : undefined;
  const uid = uids?.[event.row] ?? -1;
  if (uid >= 0) state.packet = { run: runNumber, uid };
  state.changed();
}

const ROWS = 30;
const BEFORE = 10;
/** How often the list follows while playing, in ms. */
const EVERY_MS = 120;

/** The events around the current one, as a table. */
export class Events {
  private readonly body = element("tbody");
  private readonly caption = element("caption");
  private run = 0;
  private shown = "";
  private last = 0;

  constructor(
    side: HTMLElement,
    private readonly stages: Stage[],
    private readonly state: State,
    /** Of each run, the position of the current event among those that pass. */
    private readonly cursors: number[],
  ) {
    const made = section("Events");
    if (stages.length > 1) {
      const picks = element("span");
      stages.forEach(({ run }, i) => {
        const pick = button(run.note.name, () => {
          this.run = i;
          state.changed();
        }, { class: "plain" });
        state.onChange(() => pick.setAttribute("aria-pressed", String(this.run === i)));
        picks.append(pick);
      });
      made.firstElementChild?.append(picks);
    }
    made.append(element("table", { class: "events" }, this.caption, head(), this.body));
    side.append(made);
  }

  update(now: number): void {
    const { state } = this;
    const { run, filtered } = this.stages[this.run];
    const current = this.cursors[this.run];
    const key = [this.run, current, state.filterVersion, run.version, state.clock.isPlaying].join();
    if (key === this.shown || (state.clock.isPlaying && now - this.last < EVERY_MS)) return;
    this.shown = key;
    this.last = now;
    const first = Math.max(0, Math.min(current - BEFORE, filtered.events.length - ROWS));
    const rows = Array.from(filtered.events.subarray(first, first + ROWS), (at, i) =>
      row(run, run.event(at), state, this.run, first + i === current),
    );
    replaceKeepingFocus(this.body, ...rows);
    const total = filtered.events.length.toLocaleString("en-GB");
    const what = filtered.events.length === run.events ? "events" : `of ${run.events.toLocaleString("en-GB")} events`;
    this.caption.textContent = current < 0 ? `${total} ${what}` : `${(current + 1).toLocaleString("en-GB")} of ${total} ${what === "events" ? what : `shown, ${what}`}`;
  }
}

/** The position of the last event at or before a time among those that pass; −1 if there is none. */
export function cursorAt(stage: Stage, t: number): number {
  const { run, filtered } = stage;
  const { events } = filtered;
  const times = run.order.columns.t;
  const all = firstAbove(times, t, 0, run.events);
  // Positions of events are in order, so the first that is at or after `all` ends the search.
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle] >= all) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

