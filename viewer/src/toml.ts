// TOML 1.0 as scenarios are written: all of it but dates and times, which no field has.
//
// Whole numbers are kept as such (`bigint`): seeds exceed 2⁵³.

export type Value = string | number | bigint | boolean | Value[] | Toml;
export interface Toml {
  [key: string]: Value;
}

/** The text is not TOML: what is wrong, and in which line. */
export class NotToml extends Error {
  constructor(
    what: string,
    readonly line: number,
  ) {
    super(`${what} (at line ${line})`);
  }
}

/** The longest text that is read, and how deep tables and lists may be within each other. */
const MOST_LETTERS = 1_000_000;
const DEEPEST = 50;

const ESCAPES: Record<string, string> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", '"': '"', "\\": "\\" };
const INTEGER = /^[+-]?(0|[1-9](_?\d)*)$/;
const PREFIXED = /^0(x[\da-f](_?[\da-f])*|o[0-7](_?[0-7])*|b[01](_?[01])*)$/i;
const FLOAT = /^[+-]?(0|[1-9](_?\d)*)(\.\d(_?\d)*)?(e[+-]?\d(_?\d)*)?$/i;

export function table(): Toml {
  return Object.create(null) as Toml;
}

export function isTable(value: Value | undefined): value is Toml {
  return typeof value === "object" && !Array.isArray(value);
}

export function parseToml(text: string): Toml {
  if (text.length > MOST_LETTERS) throw new NotToml(`the text has more than ${MOST_LETTERS} letters`, 1);
  return new Parser(text.replaceAll("\r\n", "\n")).document();
}

class Parser {
  private at = 0;
  /** Tables that were written as a whole or under a heading of their own, which nothing may be added to. */
  private readonly closed = new Set<Value>();
  private readonly headed = new Set<Value>();
  private readonly lists = new Set<Value>();

  constructor(private readonly text: string) {}

  document(): Toml {
    const root = table();
    let current = root;
    for (this.blank(); this.at < this.text.length; this.blank()) {
      if (this.text[this.at] === "[") current = this.heading(root);
      else this.pair(current, 0);
      this.lineEnds();
    }
    return root;
  }

  private fail(what: string): never {
    throw new NotToml(what, this.text.slice(0, this.at).split("\n").length);
  }

  /** Skips spaces and, between lines and in lists, comments and ends of lines. */
  private blank(isOneLine = false): void {
    const pattern = isOneLine ? /[ \t]*/y : /(?:[ \t\n]|#[^\n]*)*/y;
    pattern.lastIndex = this.at;
    this.at += pattern.exec(this.text)?.[0].length ?? 0;
  }

  private lineEnds(): void {
    this.blank(true);
    if (this.text[this.at] === "#") this.at = (this.text.indexOf("\n", this.at) + 1 || this.text.length + 1) - 1;
    if (this.at < this.text.length && this.text[this.at] !== "\n") this.fail(`Expected the end of the line, found "${this.text[this.at]}"`);
  }

  private take(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  private heading(root: Toml): Toml {
    const isList = this.take("[[");
    if (!isList) this.take("[");
    const keys = this.key();
    if (!this.take(isList ? "]]" : "]")) this.fail(`Expected ${isList ? "]]" : "]"} at the end of a table's name`);
    const parent = this.within(root, keys.slice(0, -1), true);
    const last = keys[keys.length - 1];
    const before = parent[last];
    if (isList) {
      const made = table();
      if (before === undefined) this.lists.add((parent[last] = [made]));
      else if (Array.isArray(before) && this.lists.has(before)) before.push(made);
      else this.fail(`Cannot add to ${last}`);
      return made;
    }
    if (before === undefined) parent[last] = table();
    else if (!isTable(before) || this.closed.has(before) || this.headed.has(before)) this.fail(`Cannot declare ${keys.join(".")} twice`);
    const made = parent[last] as Toml;
    this.headed.add(made);
    return made;
  }

  /** The table that a dotted name leads to. */
  private within(from: Toml, keys: string[], isHeading: boolean): Toml {
    let found = from;
    for (const key of keys) {
      let next = (found[key] ??= table());
      if (isHeading && Array.isArray(next) && this.lists.has(next)) next = next[next.length - 1];
      if (!isTable(next) || this.closed.has(next) || (!isHeading && this.headed.has(next))) this.fail(`Cannot add to ${key}`);
      found = next;
    }
    return found;
  }

  private pair(into: Toml, depth: number): void {
    const keys = this.key();
    this.blank(true);
    if (!this.take("=")) this.fail("Expected '=' after a key");
    const parent = this.within(into, keys.slice(0, -1), false);
    const last = keys[keys.length - 1];
    if (last in parent) this.fail(`Cannot overwrite the value of ${last}`);
    parent[last] = this.value(depth + 1);
  }

  private key(): string[] {
    const keys: string[] = [];
    do {
      this.blank(true);
      const first = this.text[this.at];
      if (first === '"' || first === "'") keys.push(this.string(false));
      else {
        const bare = /[\w-]+/y;
        bare.lastIndex = this.at;
        const found = bare.exec(this.text)?.[0] ?? this.fail("Invalid or missing key");
        this.at += found.length;
        keys.push(found);
      }
      this.blank(true);
    } while (this.take("."));
    return keys;
  }

  private value(depth: number): Value {
    if (depth > DEEPEST) this.fail(`Tables and lists are nested deeper than ${DEEPEST}`);
    this.blank(true);
    const first = this.text[this.at];
    if (first === '"' || first === "'") return this.string(true);
    if (first === "[") return this.list(depth);
    if (first === "{") return this.inline(depth);
    const pattern = /[^\s,\]}#]+/y;
    pattern.lastIndex = this.at;
    const word = pattern.exec(this.text)?.[0] ?? this.fail("Invalid or missing value");
    const made = scalar(word);
    if (made === undefined) this.fail(`Invalid value ${word}`);
    this.at += word.length;
    return made;
  }

  private list(depth: number): Value[] {
    const made: Value[] = [];
    this.at++;
    for (this.blank(); !this.take("]"); this.blank()) {
      if (this.at >= this.text.length) this.fail("Unclosed array");
      made.push(this.value(depth + 1));
      this.blank();
      if (!this.take(",") && this.text[this.at] !== "]") this.fail("Unclosed array");
    }
    return made;
  }

  private inline(depth: number): Toml {
    const made = table();
    this.at++;
    this.blank(true);
    while (!this.take("}")) {
      this.pair(made, depth);
      this.blank(true);
      if (this.take(",")) this.blank(true);
      else if (this.text[this.at] !== "}") this.fail("Unclosed inline table");
    }
    this.closed.add(made);
    return made;
  }

  private string(mayBeLong: boolean): string {
    const quote = this.text[this.at];
    const isLong = mayBeLong && this.text.startsWith(quote.repeat(3), this.at);
    const end = isLong ? quote.repeat(3) : quote;
    this.at += end.length;
    if (isLong) this.take("\n");
    let made = "";
    while (!this.text.startsWith(end, this.at)) {
      const letter = this.text[this.at];
      if (letter === undefined || (letter === "\n" && !isLong)) this.fail("Unterminated string");
      this.at++;
      made += letter === "\\" && quote === '"' ? this.escape(isLong) : letter;
    }
    // Quotes may stand just before the end.
    while (isLong && this.text[this.at + end.length] === quote) made += this.text[this.at++];
    this.at += end.length;
    return made;
  }

  private escape(isLong: boolean): string {
    const rest = this.text.slice(this.at, this.at + 9);
    const code = /^(?:u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(rest);
    if (code !== null) {
      const point = Number.parseInt(code[1] ?? code[2], 16);
      if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) this.fail("Escaped character is not a Unicode scalar value");
      this.at += code[0].length;
      return String.fromCodePoint(point);
    }
    if (isLong && /^[ \t]*\n/.test(this.text.slice(this.at))) {
      const space = /\s*/y;
      space.lastIndex = this.at;
      this.at += space.exec(this.text)?.[0].length ?? 0;
      return "";
    }
    const found = ESCAPES[rest[0]] ?? this.fail("Unescaped '\\' in a string");
    this.at++;
    return found;
  }
}

function scalar(word: string): Value | undefined {
  if (word === "true" || word === "false") return word === "true";
  const plain = word.replaceAll("_", "");
  if (INTEGER.test(word)) return plain.startsWith("-") ? -BigInt(plain.slice(1)) : BigInt(plain.replace("+", ""));
  if (PREFIXED.test(word)) return BigInt(plain.toLowerCase());
  if (FLOAT.test(word)) return Number(plain);
  const special = /^([+-]?)(inf|nan)$/.exec(word);
  if (special === null) return undefined;
  return special[2] === "nan" ? Number.NaN : special[1] === "-" ? -Infinity : Infinity;
}

/** A value as JSON text, with all digits of whole numbers; a float stays one. */
export function toJson(value: Value): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join()}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${toJson(each)}`).join()}}`;
  return JSON.stringify(value);
}

/** A value as TOML in a line. */
export function toText(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(toText).join(", ")}]`;
  if (isTable(value)) return `{ ${Object.entries(value).map(([key, each]) => `${key} = ${toText(each)}`).join(", ")} }`;
  if (typeof value === "number") return Number.isInteger(value) ? value.toFixed(1) : String(value);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
