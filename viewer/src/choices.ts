// Choices of a live page in its address: what was chosen for each run that is shown.

import { type Bytes, deflate, fromBase64, inflate, toBase64 } from "./bytes";
import { literal, shownValue } from "./controls";
import type { Edit } from "./edits";
import { asMade, type Chosen, type Displacement, type LiveData, parseSeed } from "./requests";

/** The most letters of a text in an address, when it is inflated. */
const MOST_LETTERS = 1_000_000;

/** A run's choices as one value of the address. */
export async function choicesToLink(data: LiveData, chosen: Chosen): Promise<string> {
  const link = new URLSearchParams();
  if (chosen.routing !== 0) link.set("routing", data.routings[chosen.routing].name);
  if (chosen.sender !== 0) link.set("sender", data.senders[chosen.sender].name);
  if (chosen.seed !== data.seed) link.set("seed", chosen.seed);
  chosen.options.forEach((option, i) => {
    if (option !== data.listed[i].own) link.set(`list.${i}`, data.listed[i].options[option]);
  });
  for (const [number, json] of chosen.values) link.set(`set.${data.controls[number].name}`, shownValue(data.controls[number], json));
  if (chosen.moved.size > 0) link.set("moved", Array.from(chosen.moved, ([node, [east, north]]) => [node, east, north].join(":")).join());
  if (chosen.edit !== undefined) link.set("text", toBase64(await deflate(new TextEncoder().encode(chosen.edit.text) as Bytes)));
  return link.toString();
}

/** The choices that an address names, of which `read` reads the scenario's text; what it cannot mean on this page is an error in words. */
export async function choicesOfLink(data: LiveData, value: string, read: (text: string) => Promise<Edit>): Promise<Chosen> {
  const link = new URLSearchParams(value);
  const chosen = asMade(data);
  const text = link.get("text");
  if (text !== null) {
    const bytes = await inflate(fromBase64(text), MOST_LETTERS);
    const edit = await read(new TextDecoder().decode(bytes));
    Object.assign(chosen, { edit, ...given(edit) });
  }
  const numberOf = (names: string[], key: string): number | undefined => {
    const name = link.get(key);
    if (name === null) return undefined;
    const at = names.indexOf(name);
    if (at < 0) throw new Error(`the link names a ${key} that this page does not have: ${name.slice(0, 80)}`);
    return at;
  };
  chosen.routing = numberOf(data.routings.map(({ name }) => name), "routing") ?? chosen.routing;
  chosen.sender = numberOf(data.senders.map(({ name }) => name), "sender") ?? chosen.sender;
  const seed = link.get("seed");
  if (seed !== null) chosen.seed = parseSeed(seed) ?? wrong("seed", seed);
  data.listed.forEach(({ options }, i) => (chosen.options[i] = numberOf(options, `list.${i}`) ?? chosen.options[i]));
  data.controls.forEach((control, i) => {
    const set = link.get(`set.${control.name}`);
    if (set !== null) chosen.values.set(i, literal(control, set) ?? wrong(control.name, set));
  });
  for (const each of link.get("moved")?.split(",") ?? []) {
    const [node, east, north] = each.split(":").map(Number);
    if (!Number.isInteger(node) || node < 0 || !Number.isFinite(east) || !Number.isFinite(north)) wrong("moved", each);
    chosen.moved.set(node, [east, north] as Displacement);
  }
  return chosen;
}

/** What an edit says of the choices that have fields of their own. */
export function given({ routing, sender, seed }: { routing?: number; sender?: number; seed?: string }): Partial<Chosen> {
  return { ...(routing !== undefined ? { routing } : {}), ...(sender !== undefined ? { sender } : {}), ...(seed !== undefined ? { seed } : {}) };
}

function wrong(key: string, value: string): never {
  throw new Error(`the link has a value for ${key} that cannot be: ${value.slice(0, 80)}`);
}
