// Lines and rings as one strip of triangles, in pixels, for WebGL.
//
// Software that stands in for a graphics card pays for each instance as for a draw of its own. So there are no
// instances here: some ten thousand corners are computed faster than they are drawn.

import type { Camera } from "./camera";
import type { Batch } from "./scene";
import type { Rgba } from "./theme";

/** x, y (px, from the top left), distance from the middle of the line (px), half its width (px), colour. */
export const CORNER_WORDS = 5;
/** So that the corners of the largest rings are a fifth of a pixel off a circle. */
const MOST_SEGMENTS = 144;
/** Directions around a circle, the first again at the end: cosine and sine in turn. */
const DIRECTIONS = Float32Array.from({ length: 2 * (MOST_SEGMENTS + 1) }, (_, i) => {
  const angle = (2 * Math.PI * (i >> 1)) / MOST_SEGMENTS;
  return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
});

export class Edges {
  floats = new Float32Array(4096 * CORNER_WORDS);
  private colors = new Uint32Array(this.floats.buffer);
  /** Corners of the strip. */
  count = 0;

  build(rings: Batch, lines: Batch, camera: Camera): void {
    this.count = 0;
    this.reserve(rings.count * 2 * (MOST_SEGMENTS + 2) + lines.count * 6);
    const { scale } = camera;
    for (let i = 0, at = 0; i < rings.count; i++, at += rings.stride) {
      const [x, y] = camera.toScreen(rings.floats[at], rings.floats[at + 1]);
      this.ring(x, y, rings.floats[at + 2] * scale, rings.floats[at + 3], rings.color(i), camera);
    }
    for (let i = 0, at = 0; i < lines.count; i++, at += lines.stride) {
      const [ax, ay] = camera.toScreen(lines.floats[at], lines.floats[at + 1]);
      const [bx, by] = camera.toScreen(lines.floats[at + 2], lines.floats[at + 3]);
      this.line(ax, ay, bx, by, lines.floats[at + 4], lines.floats[at + 5], lines.color(i));
    }
  }

  private ring(x: number, y: number, radius: number, width: number, color: Rgba, camera: Camera): void {
    const reach = radius + width;
    if (x + reach < 0 || y + reach < 0 || x - reach > camera.width || y - reach > camera.height) return;
    const half = width / 2;
    // Small rings need fewer corners to look round: each step is one of the directions.
    const every = radius < 12 ? 8 : radius < 48 ? 4 : radius < 300 ? 2 : 1;
    const [inner, outer] = [radius - half - 1, radius + half + 1];
    for (let i = 0; i <= MOST_SEGMENTS; i += every) {
      const [dx, dy] = [DIRECTIONS[2 * i], DIRECTIONS[2 * i + 1]];
      if (i === 0) this.corner(x + dx * inner, y + dy * inner, -half - 1, half, color);
      this.corner(x + dx * inner, y + dy * inner, -half - 1, half, color);
      this.corner(x + dx * outer, y + dy * outer, half + 1, half, color);
    }
    this.again();
  }

  private line(ax: number, ay: number, bx: number, by: number, width: number, cut: number, color: Rgba): void {
    const length = Math.max(Math.hypot(bx - ax, by - ay), 0.001);
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const half = width / 2;
    const side = half + 1;
    const short = Math.min(cut, length / 2);
    const [x0, y0, x1, y1] = [ax + ux * short, ay + uy * short, bx - ux * short, by - uy * short];
    this.corner(x0 - uy * side, y0 + ux * side, side, half, color);
    this.corner(x0 - uy * side, y0 + ux * side, side, half, color);
    this.corner(x0 + uy * side, y0 - ux * side, -side, half, color);
    this.corner(x1 - uy * side, y1 + ux * side, side, half, color);
    this.corner(x1 + uy * side, y1 - ux * side, -side, half, color);
    this.again();
  }

  private corner(x: number, y: number, side: number, half: number, color: Rgba): void {
    const at = this.count++ * CORNER_WORDS;
    const { floats } = this;
    floats[at] = x;
    floats[at + 1] = y;
    floats[at + 2] = side;
    floats[at + 3] = half;
    this.colors[at + 4] = color;
  }

  /** The last corner once more: with the first of the next shape, which is there twice, it joins nothing to be seen. */
  private again(): void {
    const at = this.count++ * CORNER_WORDS;
    this.floats.copyWithin(at, at - CORNER_WORDS, at);
  }

  private reserve(corners: number): void {
    if (corners * CORNER_WORDS <= this.floats.length) return;
    this.floats = new Float32Array(2 * corners * CORNER_WORDS);
    this.colors = new Uint32Array(this.floats.buffer);
  }
}
