// What draws a scene.

import type { Camera } from "./camera";
import type { Scene } from "./scene";

export interface Renderer {
  readonly name: string;
  /** The graphics context is gone; another renderer must be made. */
  readonly isLost: boolean;
  draw(scene: Scene, camera: Camera): void;
  /** Waits until all has been drawn, to measure it. */
  finish(): void;
  /** Gives the graphics context back: a browser has few of them. */
  release(): void;
}
