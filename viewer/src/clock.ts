// The simulated time that is shown, and how fast it goes.

/** Speeds in simulated seconds per second, from 1 µs/s to 100×, at even steps on a logarithmic scale. */
export const SLOWEST = 1e-6;
export const FASTEST = 100;
/** Stops of the speed control for every factor of ten. */
export const STOPS_PER_DECADE = 3;
export const STOPS = Math.round(Math.log10(FASTEST / SLOWEST)) * STOPS_PER_DECADE;

/** The speed at a stop of the control: 1, 2 and 5 in each decade. */
export function speedAt(stop: number): number {
  const bounded = Math.min(STOPS, Math.max(0, Math.round(stop)));
  const decade = Math.floor(bounded / STOPS_PER_DECADE);
  const step = [1, 2, 5][bounded % STOPS_PER_DECADE];
  return Number(`${step}e${decade + Math.round(Math.log10(SLOWEST))}`);
}

/** The stop that is nearest to a speed. */
export function stopOf(speed: number): number {
  let best = 0;
  for (let stop = 1; stop <= STOPS; stop++) {
    if (Math.abs(Math.log(speedAt(stop) / speed)) < Math.abs(Math.log(speedAt(best) / speed))) best = stop;
  }
  return best;
}

/** A speed in words: `1 µs/s`, `20 ms/s`, `1×`, `100×`. */
export function speedText(speed: number): string {
  if (speed >= 0.1) return `${Number(speed.toPrecision(3))}×`;
  if (speed >= 1e-3) return `${Number((speed * 1e3).toPrecision(3))} ms/s`;
  return `${Number((speed * 1e6).toPrecision(3))} µs/s`;
}

export class Clock {
  /** The time shown, in ns. */
  t = 0;
  speed = 1;
  isPlaying = false;

  constructor(readonly end: number) {}

  seek(t: number): void {
    this.t = Math.min(this.end, Math.max(0, t));
  }

  /** Goes on by so many real seconds; stops at the end. */
  advance(seconds: number): void {
    if (!this.isPlaying) return;
    this.seek(this.t + seconds * this.speed * 1e9);
    if (this.t >= this.end) this.isPlaying = false;
  }

  play(): void {
    if (this.t >= this.end) this.t = 0;
    this.isPlaying = true;
  }
}

/** A time with as many digits as the speed makes worth reading: `12.345 678 901 s`. */
export function timeText(t: number, digits = 9): string {
  const whole = Math.floor(t / 1e9);
  const rest = String(Math.round(t - whole * 1e9)).padStart(9, "0");
  const groups = rest.slice(0, digits).match(/.{1,3}/g) ?? [];
  return `${whole}.${groups.join(" ")} s`;
}

/** What a link says: `t` in s with nine digits, and other keys. */
export function readLink(hash: string): Map<string, string> {
  return new Map(new URLSearchParams(hash.replace(/^#/, "")).entries());
}

/** A time in ns from text in s, to the nanosecond; undefined if it is no time. */
export function parseTime(text: string): number | undefined {
  const found = /^\s*(\d{1,9})(?:\.(\d{1,9}))?\s*s?\s*$/.exec(text.replace(/(\d)\s+(?=\d)/g, "$1"));
  if (found === null) return undefined;
  return Number(found[1]) * 1e9 + Number((found[2] ?? "").padEnd(9, "0"));
}

/** A time in ns as a link has it: exact, without trailing zeros. */
export function linkTime(t: number): string {
  const whole = Math.floor(t / 1e9);
  const rest = String(Math.round(t - whole * 1e9)).padStart(9, "0").replace(/0+$/, "");
  return rest === "" ? String(whole) : `${whole}.${rest}`;
}
