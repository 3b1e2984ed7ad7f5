// What is played, as a film: the pictures of all runs side by side, in WebM.

/** Pictures a second at most. */
const PICTURES = 30;
/** What browsers record without asking for a codec of somebody's. */
const TYPE = "video/webm";

/** Can this browser record a canvas? */
export function canFilm(): boolean {
  return typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported(TYPE) && "captureStream" in HTMLCanvasElement.prototype;
}

export class Film {
  private readonly canvas = document.createElement("canvas");
  private readonly recorder: MediaRecorder;
  private readonly parts: Blob[] = [];

  /** Begins with pictures of this size; `done` gets the film when it is stopped. */
  constructor(width: number, height: number, done: (film: Blob) => void) {
    [this.canvas.width, this.canvas.height] = [width, height];
    this.canvas.getContext("2d");
    this.recorder = new MediaRecorder(this.canvas.captureStream(PICTURES), { mimeType: TYPE });
    this.recorder.addEventListener("dataavailable", ({ data }) => this.parts.push(data));
    this.recorder.addEventListener("stop", () => done(new Blob(this.parts, { type: TYPE })));
    this.recorder.start();
  }

  /** Takes a picture. */
  take(picture: HTMLCanvasElement): void {
    this.canvas.getContext("2d")?.drawImage(picture, 0, 0);
  }

  stop(): void {
    this.recorder.stop();
  }
}
