// The controls of a page that makes runs: single values that are typed or chosen, and lists of what the page was given.
//
// A value stays text, as JSON has it: see requests.ts.

import { element } from "./dom";

/** A value of the scenario that can be any within its bounds; see python/manetlab/replay/controls.py. */
export interface Control {
  /** Its dotted name in the scenario. */
  name: string;
  label: string;
  unit: string;
  kind: "number" | "integer" | "boolean" | "choice";
  choices: string[];
  /** Smallest and largest value. */
  range: [number, number] | null;
  /** The smallest itself is excluded. */
  above: boolean;
  /** The scenario's own, as JSON. */
  value: string;
  /** Where it is in what the engine runs. */
  path: string[];
  /** The error for other values; `{found}` stands for the value. */
  wrong: string;
  meaning: string;
}

/** A value of which the page holds what each choice makes of the scenario. */
export interface Listed {
  name: string;
  label: string;
  unit: string;
  options: string[];
  /** The scenario's own. */
  own: number;
}

/** What is written in a field as JSON, or undefined if the control cannot have this value. */
export function literal(control: Control, written: string): string | undefined {
  const text = written.trim().replace("−", "-");
  const { kind, choices } = control;
  if (kind === "boolean") return text === "true" || text === "false" ? text : undefined;
  if (kind === "choice") return choices.includes(text) ? JSON.stringify(text) : undefined;
  const form = kind === "integer" ? /^[+-]?\d{1,20}$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  if (!form.test(text) || !isWithin(control, Number(text))) return undefined;
  return kind === "integer" ? BigInt(text.replace("+", "")).toString() : String(Number(text));
}

function isWithin({ range, above }: Control, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (range === null) return true;
  return value >= range[0] && value <= range[1] && !(above && value === range[0]);
}

/** A value as a field shows it. */
export function shownValue(control: Control, json: string): string {
  if (control.kind === "integer" || control.kind === "boolean") return json;
  return control.kind === "choice" ? (JSON.parse(json) as string) : String(JSON.parse(json));
}

/** The patch that gives a control a value. */
export function patchOf({ path }: Control, json: string): string {
  return path.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, json);
}

/** The value that patches give a control, the last first; or the scenario's own. */
export function valueAfter(control: Control, patches: string[]): string {
  for (const patch of patches.toReversed()) {
    let node: unknown = JSON.parse(patch);
    for (const key of control.path) node = typeof node === "object" && node !== null ? (node as Record<string, unknown>)[key] : undefined;
    if (node !== undefined) return JSON.stringify(node);
  }
  return control.value;
}

/** A value with its unit. */
export function withUnit(value: string, unit: string): string {
  return unit === "" ? value : `${value} ${unit}`;
}

/** The fields of all controls. */
export class Fields {
  readonly root: HTMLDetailsElement;
  private readonly free: (HTMLInputElement | HTMLSelectElement)[];
  private readonly lists: HTMLSelectElement[];
  /** What the fields of free controls show unless somebody changes them, as JSON. */
  private shown: string[];

  constructor(
    private readonly controls: Control[],
    listed: Listed[],
    isOpen: boolean,
  ) {
    this.shown = controls.map(({ value }) => value);
    this.free = controls.map(field);
    this.lists = listed.map((each) => select(idOf(each.name || each.label), each.options, each.options[each.own]));
    const labelled = [
      ...listed.map((each, i) => labelOf(each, this.lists[i])),
      ...controls.map((each, i) => labelOf(each, this.free[i], boundsText(each))),
    ];
    this.root = element("details", { id: "live-controls" }, element("summary", {}, "Parameters"), element("div", {}, ...labelled));
    this.root.open = isOpen;
  }

  /** What is chosen; or what is wrong, and where. */
  read(): { values: Map<number, string>; options: number[] } | { wrong: string; field: HTMLElement } {
    const values = new Map<number, string>();
    for (const [i, control] of this.controls.entries()) {
      const written = this.free[i].value;
      const json = literal(control, written);
      this.free[i].setAttribute("aria-invalid", String(json === undefined));
      if (json === undefined) return { wrong: control.wrong.replace("{found}", () => (written === "" ? "nothing" : written)), field: this.free[i] };
      if (json !== literal(control, shownValue(control, this.shown[i]))) values.set(i, json);
    }
    return { values, options: this.lists.map((each) => each.selectedIndex) };
  }

  /** Shows values: those that were chosen, and for others what the patches make of them. */
  show(values: Map<number, string>, options: number[], patches: string[]): void {
    this.lists.forEach((each, i) => (each.selectedIndex = options[i]));
    this.controls.forEach((control, i) => {
      this.shown[i] = valueAfter(control, patches);
      this.free[i].value = shownValue(control, values.get(i) ?? this.shown[i]);
      this.free[i].setAttribute("aria-invalid", "false");
    });
  }

  /** Another protocol or sender was chosen: what nobody has changed shows what is so with it. */
  renew(patches: string[]): void {
    this.controls.forEach((control, i) => {
      const isUntouched = this.free[i].value === shownValue(control, this.shown[i]);
      this.shown[i] = valueAfter(control, patches);
      if (isUntouched) this.free[i].value = shownValue(control, this.shown[i]);
    });
  }
}

function idOf(name: string): string {
  return `control-${name.replace(/[^\w]+/g, "-")}`;
}

function field(control: Control): HTMLInputElement | HTMLSelectElement {
  const id = idOf(control.name);
  const value = shownValue(control, control.value);
  if (control.kind === "boolean") return select(id, ["false", "true"], value);
  if (control.kind === "choice") return select(id, control.choices, value);
  return element("input", { id, value, size: "7", autocomplete: "off", inputmode: control.kind === "integer" ? "numeric" : "decimal" });
}

function select(id: string, options: string[], own: string): HTMLSelectElement {
  const made = element("select", { id });
  for (const each of options) made.append(element("option", { value: each }, each));
  made.value = own;
  return made;
}

function labelOf({ name, label, unit }: { name: string; label: string; unit: string }, field: HTMLElement, bounds = ""): HTMLElement {
  const title = [name, bounds].filter(Boolean).join(": ");
  const made = element("label", { title }, element("span", {}, label), field);
  if (unit !== "") made.append(element("span", { class: "unit" }, unit));
  return made;
}

function boundsText({ meaning, range, above }: Control): string {
  return range === null ? meaning : `${meaning} ${above ? "Above" : "From"} ${range[0]} to ${range[1]}.`;
}
