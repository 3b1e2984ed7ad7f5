// Draws a scene with Canvas 2D, where there is no WebGL2.

import type { Camera } from "./camera";
import type { Renderer } from "./renderer";
import { ARROW, BAR, CIRCLE, CROSS, DISC, type Scene, SQUARE } from "./scene";
import { css } from "./theme";

export class PlainRenderer implements Renderer {
  readonly name = "Canvas 2D";
  readonly isLost = false;
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("this browser draws neither with WebGL2 nor with Canvas 2D");
    this.context = context;
  }

  draw(scene: Scene, camera: Camera): void {
    const { context, canvas } = this;
    const ratio = canvas.width / Math.max(1, camera.width);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    this.rings(scene, camera);
    this.lines(scene, camera);
    this.marks(scene, camera);
  }

  finish(): void {
    this.context.getImageData(0, 0, 1, 1);
  }

  release(): void {
    // Contexts of this kind cost nothing.
  }

  private rings({ rings }: Scene, camera: Camera): void {
    const { context } = this;
    for (let i = 0; i < rings.count; i++) {
      const [x, y, radius, width] = rings.floats.subarray(i * rings.stride);
      const [sx, sy] = camera.toScreen(x, y);
      context.strokeStyle = css(rings.color(i));
      context.lineWidth = width;
      context.beginPath();
      context.arc(sx, sy, radius * camera.scale, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  private lines({ lines }: Scene, camera: Camera): void {
    const { context } = this;
    for (let i = 0; i < lines.count; i++) {
      const [x0, y0, x1, y1, width, cut] = lines.floats.subarray(i * lines.stride);
      const [a, b] = [camera.toScreen(x0, y0), camera.toScreen(x1, y1)];
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
      const [ux, uy] = [((b[0] - a[0]) / length) * cut, ((b[1] - a[1]) / length) * cut];
      context.strokeStyle = css(lines.color(i));
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(a[0] + ux, a[1] + uy);
      context.lineTo(b[0] - ux, b[1] - uy);
      context.stroke();
    }
  }

  private marks({ marks }: Scene, camera: Camera): void {
    const { context } = this;
    for (let i = 0; i < marks.count; i++) {
      const [x, y, size, shape, part] = marks.floats.subarray(i * marks.stride);
      const [sx, sy] = camera.toScreen(x, y);
      const color = css(marks.color(i));
      context.fillStyle = context.strokeStyle = color;
      this.mark(sx, sy, size / 2, shape, part);
    }
  }

  private mark(x: number, y: number, r: number, shape: number, part: number): void {
    const { context } = this;
    context.beginPath();
    switch (shape) {
      case DISC:
        context.arc(x, y, r, 0, 2 * Math.PI);
        context.fill();
        return;
      case CIRCLE:
        context.lineWidth = 1.8;
        context.arc(x, y, Math.max(0.5, r - 0.9), 0, 2 * Math.PI);
        break;
      case CROSS: {
        const k = r * 0.707;
        context.lineWidth = 2.6;
        context.moveTo(x - k, y - k);
        context.lineTo(x + k, y + k);
        context.moveTo(x - k, y + k);
        context.lineTo(x + k, y - k);
        break;
      }
      case SQUARE:
        context.lineWidth = 1.6;
        context.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
        break;
      case ARROW:
        // The angle counts upwards in the field, and the screen's y goes down.
        for (const [along, across] of [
          [r, 0],
          [-0.8 * r, 0.9 * r],
          [-0.8 * r, -0.9 * r],
        ]) {
          const [c, s] = [Math.cos(part), Math.sin(part)];
          context.lineTo(x + along * c - across * s, y - (along * s + across * c));
        }
        context.fill();
        return;
      case BAR:
        context.lineWidth = 0.8;
        context.strokeRect(x - 2, y - r, 4, 2 * r);
        context.fillRect(x - 2, y + r - 2 * r * part, 4, 2 * r * part);
        return;
      default:
    }
    context.stroke();
  }
}
