// Curves over time as a chart with axes: as SVG, and as the rows of a CSV file.

import { linkTime } from "./clock";
import { niceStep } from "./stage";

/** Width of a letter of a legend, in pixels. */
const LETTER = 6.4;

/** One curve or cloud of points. */
export interface Curve {
  /** The run that it belongs to; empty if there is only one. */
  run: string;
  name: string;
  /** A name among the colours of the style sheet. */
  color: string;
  /** Times in ns, in order. */
  t: ArrayLike<number>;
  v: ArrayLike<number>;
  /** Points stand for themselves; otherwise a value holds until the next. */
  isPoints?: boolean;
  isDashed?: boolean;
}

export interface Chart {
  title: string;
  /** What is on the vertical axis, with its unit. */
  quantity: string;
  curves: Curve[];
  /** The part of time that is shown, in ns. */
  from: number;
  to: number;
  /** The end of the run in ns, where the last values end. */
  end: number;
  /** The vertical axis begins at 0, and not at the smallest value. */
  fromZero: boolean;
}

/** Where the parts of a chart are, in pixels, and how values become places. */
export class Frame {
  readonly left = 64;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly low: number;
  readonly high: number;
  readonly legend: { x: number; y: number; text: string; curve: Curve }[];

  constructor(
    readonly chart: Chart,
    readonly width: number,
    readonly height: number,
  ) {
    this.right = width - 18;
    this.bottom = height - 46;
    this.legend = legendOf(chart, this.left, width);
    this.top = (this.legend.at(-1)?.y ?? 0) + 22;
    [this.low, this.high] = bounds(chart);
  }

  x(t: number): number {
    const { from, to } = this.chart;
    return this.left + ((t - from) / (to - from)) * (this.right - this.left);
  }

  y(value: number): number {
    return this.bottom - ((value - this.low) / (this.high - this.low)) * (this.bottom - this.top);
  }

  time(x: number): number {
    const { from, to } = this.chart;
    const part = (x - this.left) / (this.right - this.left);
    return from + Math.min(1, Math.max(0, part)) * (to - from);
  }
}

/** Smallest and largest value of the vertical axis, at ticks. */
function bounds({ curves, from, to, fromZero }: Chart): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { t, v, isDashed } of curves) {
    if (isDashed) continue;
    for (let i = 0; i < t.length; i++) {
      if (t[i] > to || (i + 1 < t.length && t[i + 1] < from) || !Number.isFinite(v[i])) continue;
      low = Math.min(low, v[i]);
      high = Math.max(high, v[i]);
    }
  }
  if (fromZero || low === Infinity) low = 0;
  high = Math.max(high, low + 1);
  const step = niceStep((high - low) / 6);
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
}

/** Round values between two, about so many. */
export function ticks(low: number, high: number, about: number): number[] {
  const step = niceStep((high - low) / about);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toFixed(digits)));
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text within SVG; characters that XML cannot hold are left out. */
function escaped(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replace(/[&<>"]/g, (each) => ESCAPES[each]);
}

/** The chart as SVG. @param color The value of a colour of the style sheet. */
export function svgOf(frame: Frame, color: (name: string) => string, font: string): string {
  const { chart, width, height, left, right, top, bottom } = frame;
  const text = (x: number, y: number, what: string, more = ""): string =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${color("muted")}" ${more}>${escaped(what)}</text>`;
  const line = (x1: number, y1: number, x2: number, y2: number, of: string): string =>
    `<path d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}" stroke="${color(of)}" fill="none"/>`;
  const parts: string[] = [];
  for (const value of ticks(frame.low, frame.high, 6)) {
    const y = frame.y(value);
    parts.push(line(left, y, right, y, "line"), text(left - 8, y + 4, String(value), 'text-anchor="end"'));
  }
  for (const seconds of ticks(chart.from / 1e9, chart.to / 1e9, Math.max(2, Math.floor(width / 110)))) {
    const x = frame.x(seconds * 1e9);
    parts.push(line(x, bottom, x, bottom + 5, "muted"), text(x, bottom + 18, String(seconds), 'text-anchor="middle"'));
  }
  parts.push(line(left, bottom, right, bottom, "muted"), line(left, top, left, bottom, "muted"));
  parts.push(text((left + right) / 2, height - 8, "time (s)", 'text-anchor="middle"'));
  const middle = (top + bottom) / 2;
  parts.push(text(14, middle, chart.quantity, `text-anchor="middle" transform="rotate(-90 14 ${middle.toFixed(1)})"`));
  parts.push(`<clipPath id="within"><rect x="${left}" y="${top - 4}" width="${right - left}" height="${bottom - top + 8}"/></clipPath>`);
  parts.push(`<g clip-path="url(#within)">${chart.curves.map((each) => curve(frame, each, color)).join("")}</g>`);
  parts.push(`<text x="${left}" y="18" fill="${color("text")}" font-weight="bold">${escaped(chart.title)}</text>`);
  parts.push(legend(frame, color));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${escaped(font).replace(/&quot;/g, "'")}" font-size="12"><rect width="100%" height="100%" fill="${color("ground")}"/>${parts.join("")}</svg>`
  );
}

/** Where each curve's name stands, in as many lines as they need. */
function legendOf({ curves }: Chart, left: number, width: number): Frame["legend"] {
  const most = Math.max(8, Math.floor((width - left) / LETTER) - 6);
  let [x, y] = [left, 34];
  return curves.map((curve) => {
    const name = [curve.run, curve.name].filter(Boolean).join(": ");
    const text = name.length > most ? `${name.slice(0, most - 1)}…` : name;
    const room = 34 + text.length * LETTER;
    if (x > left && x + room > width) [x, y] = [left, y + 16];
    const at = { x, y, text, curve };
    x += room;
    return at;
  });
}

function legend({ legend: entries }: Frame, color: (name: string) => string): string {
  return entries
    .map(({ x, y, text, curve }) => {
      const dash = curve.isDashed ? ' stroke-dasharray="3 3"' : "";
      const mark = `<path d="M${x} ${y}h14" stroke="${color(curve.color)}" stroke-width="3"${dash}/>`;
      return `${mark}<text x="${x + 19}" y="${y + 4}" fill="${color("text")}">${escaped(text)}</text>`;
    })
    .join("");
}

function curve(frame: Frame, { t, v, color: of, isPoints, isDashed }: Curve, color: (name: string) => string): string {
  const { from, to, end } = frame.chart;
  const places: [number, number][] = [];
  for (let i = 0; i < t.length; i++) {
    if (t[i] > to || (t[i] < from && (isPoints || (i + 1 < t.length && t[i + 1] < from))) || !Number.isFinite(v[i])) continue;
    places.push([frame.x(Math.max(t[i], from)), frame.y(v[i])]);
  }
  if (places.length === 0) return "";
  if (isPoints) {
    const seen = new Set(places.map(([x, y]) => `M${(Math.round(x * 2) / 2).toFixed(1)} ${(Math.round(y * 2) / 2).toFixed(1)}h0`));
    return `<path d="${[...seen].join("")}" stroke="${color(of)}" stroke-width="3" stroke-linecap="round" fill="none"/>`;
  }
  const kept = thinned(places);
  const steps = kept.slice(1).map(([x, y]) => `H${x.toFixed(1)}V${y.toFixed(1)}`);
  const last = `H${frame.x(Math.min(to, end)).toFixed(1)}`;
  const look = isDashed ? 'stroke-width="1" stroke-dasharray="3 3"' : 'stroke-width="1.6"';
  return `<path d="M${kept[0][0].toFixed(1)} ${kept[0][1].toFixed(1)}${steps.join("")}${last}" stroke="${color(of)}" ${look} fill="none"/>`;
}

/** Of more places than can be told apart in a column of half a pixel: the first, the lowest, the highest and the last. */
function thinned(places: [number, number][]): [number, number][] {
  const kept: [number, number][] = [];
  for (let first = 0, next = 0; first < places.length; first = next) {
    const column = Math.floor(places[first][0] * 2);
    while (next < places.length && Math.floor(places[next][0] * 2) === column) next++;
    let [low, high] = [first, first];
    for (let i = first; i < next; i++) {
      if (places[i][1] < places[low][1]) low = i;
      if (places[i][1] > places[high][1]) high = i;
    }
    const chosen = new Set([first, low, high, next - 1]);
    for (const i of [...chosen].sort((a, b) => a - b)) kept.push(places[i]);
  }
  return kept;
}

/** All values as rows of time, run, curve and value, also those outside the part of time that is shown. */
export function csvOf({ curves, quantity }: Chart): string {
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = [["time_s", "run", "curve", quoted(quantity)].join()];
  for (const { run, name, t, v } of curves) {
    for (let i = 0; i < t.length; i++) rows.push(`${linkTime(t[i])},${quoted(run)},${quoted(name)},${v[i]}`);
  }
  return `${rows.join("\r\n")}\r\n`;
}

/** The value of a curve at a time: the last one, or of points the nearest; undefined before the first. */
export function valueAt({ t, v, isPoints }: Curve, time: number): number | undefined {
  let [low, high] = [0, t.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (t[middle] > time) high = middle;
    else low = middle + 1;
  }
  if (isPoints && low < t.length && (low === 0 || t[low] - time < time - t[low - 1])) return v[low];
  return low === 0 ? undefined : v[low - 1];
}
