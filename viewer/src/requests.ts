// What the engine is asked: the page's scenario with the user's choices.
//
// Scenarios are text here and are never parsed: their seeds can exceed 2⁵³, and JavaScript's numbers would round them.

import type { Edit, Known } from "./edits";
import type { Changes, Resolved } from "./resolver";
import { type Control, type Listed, patchOf, shownValue, withUnit } from "./controls";

/** One of the values that the page offers, and how it changes the scenario: a merge patch as text. */
export interface Choice {
  name: string;
  patch: string;
}

/** Another draw of movement and traffic: its seed, how it changes the scenario, and its movement. */
export interface Draw extends Choice {
  movement: string;
}

/** What the page was given; of each list of choices the first is the scenario's own. */
export interface LiveData {
  scenario: string;
  movement: string;
  routings: Choice[];
  /** None if there is no TCP. */
  senders: Choice[];
  /** Patches of pairs, by the numbers of routing and sender, where one after the other would be wrong. */
  pairs: Record<string, string>;
  /** If movement or traffic are drawn from the seed: all that the page holds. Otherwise any seed can be had. */
  draws: Draw[];
  /** Values that can be any within their bounds. */
  controls: Control[];
  /** Values of which each choice is prepared. */
  listed: Listed[];
  /** The scenario names its controls. */
  isNamed: boolean;
  /** What combinations of listed choices make of the scenario: by the seed if there are draws, and the numbers of the choices. */
  variants: Record<string, { patch: string; movement: number }>;
  /** Why a combination cannot be had, in the command line's words. */
  refused: Record<string, string>;
  movements: string[];
  seed: string;
  isStatic: boolean;
  /** The scenario as its user wrote it, and what errors call it. */
  toml: string;
  where: string;
  /** All keys of scenarios, and all parameters by section. */
  keys: string[];
  parameters: Record<string, Record<string, Known>>;
  /** Sections and parameters that decide more than their own value. */
  fixed: string[];
  /** The seed; duration and warm-up where nothing is drawn from them. */
  times: Record<string, Known>;
  /** Fields of flows by kind. */
  flowFields: Record<string, Record<string, Known>>;
  /** Spacings in m of chains and grids that give none. */
  spacings: Record<string, number>;
  isEditorOpen: boolean;
}

/** A displacement in m: to the east, to the north. */
export type Displacement = [number, number];

/** What the user has chosen: positions in the lists of `LiveData`. */
export interface Chosen {
  routing: number;
  sender: number;
  /** In decimal digits. */
  seed: string;
  moved: Map<number, Displacement>;
  /** Values of controls that are changed, as JSON, by the control's number. */
  values: Map<number, string>;
  /** What is chosen of each list. */
  options: number[];
  /** What the scenario's text says otherwise. */
  edit?: Edit;
  /** What Python makes of the text with these choices, if another than of the text alone. */
  resolved?: Resolved;
}

export function asMade(data: LiveData): Chosen {
  const options = data.listed.map(({ own }) => own);
  return { routing: 0, sender: 0, seed: data.seed, moved: new Map(), values: new Map(), options };
}

/** What names a combination of listed choices; undefined if it is the scenario's own. */
function variantKey(data: LiveData, { options, seed }: Chosen): string | undefined {
  if (options.every((each, i) => each === data.listed[i].own)) return undefined;
  return [...(data.draws.length > 0 ? [seed] : []), ...options].join(" ");
}

/** Why the page cannot make the chosen run; undefined if it can. */
export function refusal(data: LiveData, chosen: Chosen): string | undefined {
  const key = variantKey(data, chosen);
  if (key !== undefined && chosen.edit?.resolved !== undefined) return "The text decides this now: change it there, or go back to the original.";
  if (key === undefined || data.variants[key] !== undefined) return undefined;
  return data.refused[key] ?? "The page does not hold this combination.";
}

/** The patches of the chosen protocol and sender. */
export function protocolPatches(data: LiveData, routing: number, sender: number): string[] {
  const pair = data.pairs[`${routing} ${sender}`];
  return pair !== undefined ? [pair] : [data.routings[routing].patch, data.senders[sender]?.patch ?? "{}"];
}

const LARGEST_SEED = 2n ** 64n - 1n;

/** A seed as the engine takes it, or undefined if the text is none. */
export function parseSeed(text: string): string | undefined {
  const digits = text.trim();
  if (!/^\d{1,20}$/.test(digits)) return undefined;
  const seed = BigInt(digits);
  return seed <= LARGEST_SEED ? seed.toString() : undefined;
}

export function requestOf(data: LiveData, chosen: Chosen, isRecorded: boolean): string {
  const moved = Array.from(chosen.moved, ([node, displacement]) => [node, ...displacement]);
  const values = Array.from(chosen.values, ([number, json]) => patchOf(data.controls[number], json));
  const after = `"moved":${JSON.stringify(moved)},"record":${isRecorded}}`;
  const resolved = chosen.resolved ?? chosen.edit?.resolved;
  if (resolved !== undefined) {
    const { scenario, movement, beside } = resolved;
    return `{"scenario":${scenario},"movement":${JSON.stringify(movement)},"beside":${beside},"changes":[${values.join()}],${after}`;
  }
  const draw = data.draws.find((each) => each.name === chosen.seed);
  const key = variantKey(data, chosen);
  const variant = key === undefined ? undefined : data.variants[key];
  // A scenario's own parameters are set after those of its protocol and its sender: so are those of the controls.
  const changes = [
    draw === undefined ? `{"seed":${chosen.seed}}` : draw.patch,
    ...protocolPatches(data, chosen.routing, chosen.sender),
    ...(chosen.edit?.patches ?? []),
    ...(variant === undefined ? [] : [variant.patch]),
    ...values,
  ];
  const movement = JSON.stringify(chosen.edit?.movement !== undefined ? chosen.edit.movement : variant !== undefined ? data.movements[variant.movement] : (draw?.movement ?? data.movement));
  return `{"scenario":${data.scenario},"movement":${movement},"changes":[${changes.join()}],${after}`;
}

/** What Python is to change of a text, so that it says what is chosen; undefined if the page has that already. */
export function changesOf(data: LiveData, { edit, routing, sender, seed }: Chosen): Changes | undefined {
  const isHeld = edit === undefined && (data.draws.length === 0 || data.draws.some(({ name }) => name === seed));
  if (isHeld || (edit !== undefined && edit.resolved === undefined)) return undefined;
  const of = { routing: edit?.routing ?? 0, sender: edit?.sender ?? 0, seed: edit?.seed ?? data.seed };
  const changes: Changes = {};
  if (routing !== of.routing) changes.routing = data.routings[routing].name;
  if (sender !== of.sender) changes.sender = data.senders[sender].name;
  if (seed !== of.seed) changes.seed = seed;
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** What differs between the run as made and the chosen one: for each difference what it was and what it is. */
export function differences(data: LiveData, chosen: Chosen): [string, string][] {
  const found: [string, string][] = [];
  const { routings, senders } = data;
  if (chosen.routing !== 0) found.push([routings[0].name, routings[chosen.routing].name]);
  if (chosen.sender !== 0) found.push([senders[0].name, senders[chosen.sender].name]);
  if (chosen.seed !== data.seed) found.push([`seed ${data.seed}`, `seed ${chosen.seed}`]);
  found.push(...(chosen.edit?.names ?? []));
  data.listed.forEach(({ label, unit, options, own }, i) => {
    const [was, is] = [own, chosen.options[i]].map((each) => `${label} ${withUnit(options[each], unit)}`);
    if (was !== is) found.push([was, is]);
  });
  for (const [number, json] of chosen.values) {
    const control = data.controls[number];
    const [was, is] = [control.value, json].map((each) => `${control.label} ${withUnit(shownValue(control, each), control.unit)}`);
    found.push([was, is]);
  }
  const nodes = Array.from(chosen.moved.keys()).sort((a, b) => a - b);
  if (nodes.length > 0) found.push(["", `${nodes.length === 1 ? "node" : "nodes"} ${nodes.join(", ")} moved`]);
  return found;
}
