// From metres to pixels: a fit of the field into the canvas, zoomed and moved by the user.

export class Camera {
  width = 1;
  height = 1;
  private zoom = 1;
  private centerX: number;
  private centerY: number;

  /** @param box What must be visible at first: left, bottom, right, top in m. */
  constructor(readonly box: readonly [number, number, number, number]) {
    this.centerX = (box[0] + box[2]) / 2;
    this.centerY = (box[1] + box[3]) / 2;
  }

  /** Pixels (of the style sheet) per metre. */
  get scale(): number {
    const [left, bottom, right, top] = this.box;
    const margin = Math.min(36, this.width / 12);
    const across = (this.width - 2 * margin) / Math.max(1, right - left);
    const along = (this.height - 2 * margin) / Math.max(1, top - bottom);
    return Math.max(1e-6, Math.min(across, along)) * this.zoom;
  }

  toScreen(x: number, y: number): [number, number] {
    const { scale } = this;
    // The field's y goes up, the screen's down.
    return [(x - this.centerX) * scale + this.width / 2, (this.centerY - y) * scale + this.height / 2];
  }

  toField(sx: number, sy: number): [number, number] {
    const { scale } = this;
    return [(sx - this.width / 2) / scale + this.centerX, this.centerY - (sy - this.height / 2) / scale];
  }

  /** Zooms so that what is at a point of the screen stays there. */
  zoomAt(factor: number, sx: number, sy: number): void {
    const [x, y] = this.toField(sx, sy);
    this.zoom = Math.min(200, Math.max(0.5, this.zoom * factor));
    const [nx, ny] = this.toField(sx, sy);
    this.centerX += x - nx;
    this.centerY += y - ny;
  }

  move(dx: number, dy: number): void {
    this.centerX -= dx / this.scale;
    this.centerY += dy / this.scale;
  }

  reset(): void {
    this.zoom = 1;
    this.centerX = (this.box[0] + this.box[2]) / 2;
    this.centerY = (this.box[1] + this.box[3]) / 2;
  }

  /** The affine map to WebGL's clip space: scale and offset of x, then of y. */
  get clip(): [number, number, number, number] {
    const { scale } = this;
    const [ax, ay] = [(2 * scale) / this.width, (2 * scale) / this.height];
    return [ax, -this.centerX * ax, ay, -this.centerY * ay];
  }
}
