// What was changed in the text of the scenario, and how that changes what the engine runs.
//
// The command line's resolver alone turns every field into what is run. A page that holds Python has it: see resolver.ts. Any
// other takes fields that are one value, flows and fixed positions, and refuses others; in the command line's words where it
// has the same error (docs/decisions.md).

import type { LiveData } from "./requests";
import type { Resolved } from "./resolver";
import { isTable, NotToml, parseToml, table, type Toml, toJson, toText, type Value } from "./toml";

/** What a parameter may be, and what the command line says. */
export interface Known {
  kind: string;
  choices: string[];
  range: [number, number] | null;
  above: boolean;
  wanted: string;
  meaning: string;
  /** As JSON: the value that it has if the text does not give it; unset if that is what the page runs. */
  without?: string;
}

export interface Edit {
  text: string;
  /** Merge patches of what the engine runs. */
  patches: string[];
  /** The movement as a file of ns-2, if it is another. */
  movement?: string;
  /** What Python made of the text, in place of both. */
  resolved?: Resolved;
  routing?: number;
  sender?: number;
  seed?: string;
  /** For each change what it was and what it is. */
  names: [string, string][];
}

/** An error as the command line prints it. */
export class Refusal extends Error {
  constructor(what: string, found: string, wanted: string, hint: string) {
    const lines = [["found", found], ["wanted", wanted], ["hint", hint]].filter(([, text]) => text !== "");
    super([what, ...lines.map(([name, text]) => `  ${`${name}:`.padEnd(7)} ${text}`)].join("\n"));
  }

  /** One that is printed already. */
  static of(text: string): Refusal {
    return new Refusal(text, "", "", "");
  }
}

/** The longest text of a change that names a run. */
const LONGEST_NAME = 40;
/** Of so many names an error lists all, as those of the command line do. */
const MOST_NAMED = 20;
/** The most nodes that a text may place. */
const MOST_NODES = 10_000;
const REMAKE = "change the file, and make the page anew: manetlab view FILE --live";

/** Reads the text. Throws a `Refusal`. */
export function editOf(data: LiveData, text: string): Edit {
  const read = (each: string): Toml => {
    try {
      return parseToml(each);
    } catch (error) {
      if (!(error instanceof NotToml)) throw error;
      throw new Refusal(`${data.where}: the scenario file is not TOML`, error.message, "TOML", "");
    }
  };
  return new Reader(data, read(data.toml), text, read(text)).edit;
}

class Reader {
  readonly edit: Edit;

  constructor(
    private readonly data: LiveData,
    private readonly before: Toml,
    text: string,
    after: Toml,
  ) {
    this.edit = { text, patches: [], names: [] };
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (!isSame(before[key], after[key])) this.field(key, before[key], after[key]);
    }
  }

  private refuse(what: string, found: string, wanted: string, hint: string): never {
    throw new Refusal(`${this.data.where}: ${what}`, found, wanted, hint);
  }

  private refuseHere(name: string, value: Value | undefined): never {
    const found = value === undefined ? "nothing" : shown(value);
    this.refuse(`${name} cannot be changed in a page`, found, "what the page was made with", REMAKE);
  }

  private field(key: string, before: Value | undefined, after: Value | undefined): void {
    const { data } = this;
    if (key === "live") return;
    if (key in data.parameters && (after === undefined || isTable(after) || key === "tcp")) return this.section(key, before, after);
    if (!data.keys.includes(key)) this.unknown("key", key, data.keys, `${key}: `);
    if (key === "routing") return this.routing(after);
    if (key === "duration_s" || key === "warmup_s") return this.time(key, after);
    if (key === "seed") return this.seed(after);
    if (key === "movement") return this.movement(before, after);
    if (key === "traffic") return this.traffic(before, after);
    if (key === "rates" && Array.isArray(after)) return this.patch(key, before, after);
    this.refuseHere(key, after);
  }

  private patch(key: string, before: Value | undefined, after: Value): void {
    this.edit.patches.push(`{${JSON.stringify(key)}:${toJson(after)}}`);
    this.named(key, before, after);
  }

  private named(name: string, before: Value | undefined, after: Value | undefined): void {
    const told = (value: Value | undefined): string => {
      const text = value === undefined ? `${name} not given` : `${name} ${toText(value)}`;
      return text.length > LONGEST_NAME ? `other ${name}` : text;
    };
    this.edit.names.push([told(before), told(after)]);
  }

  private unknown(kind: string, found: string, known: string[], place = "", more = ""): never {
    const near = nearest(found, known);
    const wanted = known.length <= MOST_NAMED ? `one of ${[...known].sort().join(", ")}` : near === undefined ? `one of ${known.length} names` : `for example ${near}`;
    this.refuse(`${place}no such ${kind}`, `"${found}"`, `${wanted}${more}`, near === undefined ? "check the spelling" : `did you mean "${near}"?`);
  }

  private routing(after: Value | undefined): void {
    const names = this.data.routings.map(({ name }) => name);
    const at = after === undefined ? -1 : names.indexOf(String(after));
    if (at < 0 && typeof after === "string") this.unknown("routing protocol", after, names.filter((each) => !each.includes(":")), "", ", or python:MODULE.CLASS");
    if (at < 0) this.refuseHere("routing", after);
    this.edit.routing = at;
  }

  private time(key: string, after: Value | undefined): void {
    const known = this.data.times[key];
    if (known === undefined || after === undefined) this.refuseHere(key, after);
    this.patch(key, this.before[key], this.taken(key, known, after));
  }

  private seed(after: Value | undefined): void {
    const { draws } = this.data;
    const { wanted = "a seed", meaning = "" } = this.data.times["seed"] ?? {};
    if (typeof after !== "bigint" || after < 0n || after >= 2n ** 64n) this.refuse("seed: the value is not allowed", shown(after ?? ""), wanted, meaning);
    if (draws.length > 0 && !draws.some(({ name }) => name === String(after))) this.refuse("the page does not hold this seed", String(after), `one of ${draws.map(({ name }) => name).join(", ")}`, REMAKE);
    this.edit.seed = String(after);
  }

  private section(name: string, before: Value | undefined, after: Value | undefined): void {
    const fields = (value: Value | undefined): Toml => {
      if (typeof value === "string") return Object.assign(table(), { sender: value });
      if (value !== undefined && !isTable(value)) this.refuseHere(name, value);
      return value ?? table();
    };
    const [was, is] = [fields(before), fields(after)];
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
      if (isSame(was[key], is[key])) continue;
      if (name === "tcp" && key === "sender") this.sender(is[key]);
      else this.parameter(name, key, was[key], is[key]);
    }
  }

  private sender(after: Value | undefined): void {
    const names = this.data.senders.map(({ name }) => name);
    const at = names.indexOf(String(after ?? ""));
    if (at < 0 && typeof after === "string" && names.length > 0) this.unknown("TCP sender", after, names);
    if (at < 0) this.refuseHere("tcp.sender", after);
    this.edit.sender = at;
  }

  private parameter(section: string, key: string, before: Value | undefined, after: Value | undefined): void {
    const of = this.data.parameters[section];
    const known = of[key];
    const name = `${section}.${key}`;
    if (this.data.fixed.some((each) => each === section || each === name)) this.refuseHere(name, after);
    if (known === undefined) this.unknown(`parameter in [${section}]`, key, Object.keys(of));
    if (after === undefined && known.without === undefined) this.refuseHere(name, after);
    const json = after === undefined ? (known.without ?? "null") : toJson(this.taken(name, known, after, true));
    this.edit.patches.push(`{"params":{${JSON.stringify(section)}:{${JSON.stringify(key)}:${json}}}}`);
    this.named(name, before, after);
  }

  private taken(name: string, known: Known, value: Value, isParameter = false): Value {
    const { kind, choices, range, above, wanted, meaning } = known;
    const isNumber = typeof value === "bigint" || (typeof value === "number" && kind === "number");
    const isWithin = (found: number): boolean => (range === null ? Number.isFinite(found) : range[0] <= found && found <= range[1] && !(above && found === range[0]));
    const isRight =
      kind === "boolean" ? typeof value === "boolean"
      : kind === "choice" ? typeof value === "string" && choices.includes(value)
      : kind === "text" ? typeof value === "string"
      : isNumber && isWithin(Number(value));
    if (!isRight) this.refuse(isParameter ? `${name} cannot have this value` : `${name}: the value is not allowed`, shown(value), wanted, meaning);
    return kind === "number" ? Number(value) : value;
  }

  private traffic(before: Value | undefined, after: Value | undefined): void {
    if (!isTable(after) || Object.keys(after).some((key) => key !== "flows") || this.data.draws.length > 0) this.refuseHere("traffic", after);
    const { flows } = after;
    if (!Array.isArray(flows) || !flows.every(isTable)) this.refuse("traffic.flows: the value is not allowed", shown(flows ?? ""), "a list of tables, one a flow", "");
    flows.forEach((flow, i) => this.flow(flow, i));
    this.edit.patches.push(`{"flows":${toJson(flows)}}`);
    this.named("traffic.flows", isTable(before) ? before["flows"] : undefined, flows);
  }

  private flow(flow: Toml, i: number): void {
    const { flowFields } = this.data;
    const place = `traffic.flows[${i}]`;
    const kind = typeof flow["kind"] === "string" ? flow["kind"] : "";
    const fields = flowFields[kind];
    if (fields === undefined) this.refuse(`${place}.kind: the value is not allowed`, shown(flow["kind"] ?? ""), `one of ${Object.keys(flowFields).sort().join(", ")}`, "");
    for (const [key, value] of Object.entries(flow)) {
      if (key === "kind" || key === "src" || key === "dst") continue;
      const known = fields[key];
      if (known === undefined) this.unknown("key", key, Object.keys(fields), `${place}.${key}: `);
      if (known.kind !== "" && !Array.isArray(value) && !isTable(value)) flow[key] = this.taken(`${place}.${key}`, known, value);
    }
  }

  private movement(before: Value | undefined, after: Value | undefined): void {
    if (this.data.draws.length > 0 || !isTable(after)) this.refuseHere("movement", after);
    const places = this.places(after);
    if (places === undefined) this.refuseHere("movement", after);
    if (places.length > MOST_NODES) this.refuse("movement has too many nodes for a page", String(places.length), `up to ${MOST_NODES}`, "");
    const line = ([x, y]: [number, number], node: number): string => ["X", "Y", "Z"].map((axis, i) => `$node_(${node}) set ${axis}_ ${[x, y, 0][i]}\n`).join("");
    this.edit.movement = places.map(line).join("");
    this.named("movement", before, after);
  }

  /** Where nodes stand, if the text places them one by one, in a chain or in a grid. */
  private places(movement: Toml): [number, number][] | undefined {
    const [kind, ...others] = Object.keys(movement);
    const value = movement[kind];
    if (others.length > 0) return undefined;
    if (kind === "positions" && Array.isArray(value)) {
      return value.map((each, i) => {
        const place = Array.isArray(each) ? each.map(Number) : [];
        const isPlace = Array.isArray(each) && each.length === 2 && each.every((one) => typeof one === "number" || typeof one === "bigint") && place.every(Number.isFinite);
        if (!isPlace) this.refuse(`movement.positions[${i}]: the value is not allowed`, shown(each), "x and y in m", "");
        return [place[0], place[1]];
      });
    }
    if ((kind !== "chain" && kind !== "grid") || !isTable(value)) return undefined;
    const counts = kind === "chain" ? ["nodes"] : ["columns", "rows"];
    const wrong = Object.keys(value).find((key) => !counts.includes(key) && key !== "spacing_m");
    if (wrong !== undefined) this.unknown("key", wrong, [...counts, "spacing_m"], `movement.${kind}.${wrong}: `);
    const [columns, rows = 1] = counts.map((key) => this.count(`movement.${kind}.${key}`, value[key]));
    const spacing = Number(value["spacing_m"] ?? this.data.spacings[kind]);
    if (!(spacing > 0 && spacing <= 1e6)) this.refuse(`movement.${kind}.spacing_m: the value is not allowed`, shown(value["spacing_m"] ?? ""), "a number above 0, up to 1000000 m", "");
    return Array.from({ length: columns * rows }, (_, i) => [(i % columns) * spacing, Math.floor(i / columns) * spacing]);
  }

  private count(name: string, value: Value | undefined): number {
    const number = typeof value === "bigint" ? Number(value) : 0;
    if (number < 1 || number > MOST_NODES) this.refuse(`${name}: the value is not allowed`, shown(value ?? ""), `a whole number from 1 to ${MOST_NODES}`, "");
    return number;
  }
}

function isSame(a: Value | undefined, b: Value | undefined): boolean {
  return a === undefined || b === undefined ? a === b : toJson(a) === toJson(b);
}

/** A value as the command line shows it. */
function shown(value: Value): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  const text = typeof value === "string" ? (value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value.replaceAll("'", "\\'")}'`) : typeof value === "number" && Number.isFinite(value) ? toText(value) : toText(value);
  return text.length <= 80 ? text : `${text.slice(0, 77)}…`;
}

/** The known name that is most likely meant: at most two letters are too many, too few or wrong, or exchanged. */
export function nearest(found: string, known: string[]): string | undefined {
  const wanted = found.toLowerCase().slice(0, 100);
  const ranked = known.map((name) => ({ name, slips: slips(wanted, name.toLowerCase()) })).sort((a, b) => a.slips - b.slips);
  return ranked[0] !== undefined && ranked[0].slips <= Math.min(2, wanted.length / 2) ? ranked[0].name : undefined;
}

function slips(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1), isSwapped ? rows[i - 2][j - 2] + 1 : Infinity));
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
