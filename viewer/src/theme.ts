// Colours. The hues are those of Okabe and Ito, as in manetlab's reports; the style sheet has the others.

/** Red, green, blue and opacity, each 0 to 255, in one number as WebGL reads it. */
export type Rgba = number;

export function rgba(hex: string, opacity = 1): Rgba {
  const value = Number.parseInt(hex.slice(1), 16);
  const alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  return ((alpha << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

export function withOpacity(color: Rgba, opacity: number): Rgba {
  return ((color & 0x00ffffff) | (Math.round(Math.min(1, Math.max(0, opacity)) * 255) << 24)) >>> 0;
}

export function css(color: Rgba): string {
  const [r, g, b, a] = [color & 255, (color >> 8) & 255, (color >> 16) & 255, color >>> 24];
  return `rgba(${r}, ${g}, ${b}, ${a / 255})`;
}

/** The style sheet's names of the colours of runs. */
export const RUN_COLORS = ["data", "routing", "route", "arp"];

export interface Theme {
  ground: string;
  field: string;
  line: string;
  grid: string;
  text: string;
  muted: string;
  node: string;
  wall: string;
  /** What frames carry, in the order of `CARRIES`. */
  carries: [string, string, string, string];
  drop: string;
  collision: string;
  route: string;
  select: string;
  /** Curves of each run, in order. */
  runs: [string, string, string, string];
}

export const LIGHT: Theme = {
  ground: "#ffffff",
  field: "#f7f9fa",
  line: "#cbd2d9",
  grid: "#e6eaee",
  text: "#1a2027",
  muted: "#52606d",
  node: "#5a6875",
  wall: "#7b5e57",
  carries: ["#0072b2", "#c98500", "#a8508a", "#7b8794"],
  drop: "#c62828",
  collision: "#b03a00",
  route: "#00855f",
  select: "#1a2027",
  runs: ["#0072b2", "#c98500", "#00855f", "#a8508a"],
};

export const DARK: Theme = {
  ground: "#14181d",
  field: "#181d23",
  line: "#3a444e",
  grid: "#232a32",
  text: "#e6eaee",
  muted: "#a3aeb9",
  node: "#93a1af",
  wall: "#b79a8f",
  carries: ["#4fb3f0", "#f0b429", "#e79ac4", "#8a97a5"],
  drop: "#ff6b60",
  collision: "#ff8a4c",
  route: "#2cc295",
  select: "#e6eaee",
  runs: ["#4fb3f0", "#f0b429", "#2cc295", "#e79ac4"],
};
