// Draws a scene with WebGL2: lines and rings in one call, marks in another.

import type { Camera } from "./camera";
import { Edges } from "./edges";
import type { Renderer } from "./renderer";
import { ARROW, CIRCLE, CROSS, DISC, type Scene, SQUARE } from "./scene";

const MARKS = `#version 300 es
precision highp float;
uniform vec4 clip;      // scale and offset of x, then of y: metres to clip space
uniform float ratio;    // pixels of the canvas per pixel of the style sheet
in vec2 center; in vec3 look; in vec4 color;
flat out float reach; flat out float size; flat out int shape; flat out float part; out vec4 tint;
void main() {
  size = look.x; shape = int(look.y + 0.5); part = look.z; tint = color;
  // An arrow's corners lie outside of the circle that the others fill.
  reach = size * (shape == ${ARROW} ? 1.25 : 1.0) + 2.0;
  gl_PointSize = reach * ratio;
  gl_Position = vec4(center.x * clip.x + clip.y, center.y * clip.z + clip.w, 0.0, 1.0);
}`;

const MARKS_PIXELS = `#version 300 es
precision highp float;
flat in float reach; flat in float size; flat in int shape; flat in float part; in vec4 tint;
out vec4 pixel;
float segment(vec2 p, vec2 a, vec2 b) {
  vec2 pa = p - a, ba = b - a;
  return length(pa - ba * clamp(dot(pa, ba) / dot(ba, ba), 0.0, 1.0));
}
void main() {
  vec2 at = (gl_PointCoord - 0.5) * vec2(reach, -reach);
  float r = size * 0.5, d = 0.0;
  if (shape == ${DISC}) d = length(at) - r;
  else if (shape == ${CIRCLE}) d = abs(length(at) - r + 0.9) - 0.9;
  else if (shape == ${CROSS}) {
    float k = r * 0.707;
    d = min(segment(at, vec2(-k), vec2(k)), segment(at, vec2(-k, k), vec2(k, -k))) - 1.3;
  } else if (shape == ${SQUARE}) {
    vec2 q = abs(at) - r * 0.886;
    d = abs(max(q.x, q.y) + 0.8) - 0.8;
  } else if (shape == ${ARROW}) {
    float c = cos(part), s = sin(part);
    vec2 q = vec2(at.x * c + at.y * s, at.y * c - at.x * s);
    d = max(abs(q.y) * 0.894 + (q.x - r) * 0.447, -q.x - r * 0.8);
  } else {
    vec2 q = abs(at) - vec2(2.0, r);
    d = max(q.x, q.y);
    if (at.y > (2.0 * part - 1.0) * r && d < -0.8) d = 0.35;
  }
  float cover = clamp(0.5 - d, 0.0, 1.0);
  if (cover <= 0.0) discard;
  pixel = vec4(tint.rgb, 1.0) * tint.a * cover;
}`;

const EDGES = `#version 300 es
precision highp float;
uniform vec2 viewport;  // in pixels of the style sheet
in vec2 place; in vec2 look; in vec4 color;
out float side; flat out float half_width; out vec4 tint;
void main() {
  side = look.x; half_width = look.y; tint = color;
  gl_Position = vec4(2.0 * place.x / viewport.x - 1.0, 1.0 - 2.0 * place.y / viewport.y, 0.0, 1.0);
}`;

const EDGES_PIXELS = `#version 300 es
precision highp float;
in float side; flat in float half_width; in vec4 tint;
out vec4 pixel;
void main() {
  float cover = clamp(half_width + 0.5 - abs(side), 0.0, 1.0);
  pixel = vec4(tint.rgb, 1.0) * tint.a * cover;
}`;

interface Attribute {
  name: string;
  floats: number;
}

/** One program and the buffer of its vertices; the last word of each is its colour. */
class Layer {
  private readonly program: WebGLProgram;
  private readonly array: WebGLVertexArrayObject;
  private readonly buffer: WebGLBuffer;
  private readonly words: number;
  private readonly places: Record<string, WebGLUniformLocation | null>;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    sources: [string, string],
    attributes: Attribute[],
    uniforms: string[],
  ) {
    this.program = linked(gl, sources);
    this.places = Object.fromEntries(uniforms.map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    this.words = attributes.reduce((sum, each) => sum + each.floats, 0) + 1;
    let offset = 0;
    for (const { name, floats } of attributes) {
      this.attribute(name, floats, gl.FLOAT, offset);
      offset += 4 * floats;
    }
    this.attribute("color", 4, gl.UNSIGNED_BYTE, offset);
  }

  private attribute(name: string, size: number, type: number, offset: number): void {
    const { gl } = this;
    const at = gl.getAttribLocation(this.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, type === gl.UNSIGNED_BYTE, 4 * this.words, offset);
  }

  draw(mode: number, floats: Float32Array, count: number, uniforms: Record<string, number[]>): void {
    if (count === 0) return;
    const { gl, program } = this;
    gl.useProgram(program);
    for (const [name, values] of Object.entries(uniforms)) {
      const at = this.places[name];
      if (values.length === 1) gl.uniform1fv(at, values);
      else if (values.length === 2) gl.uniform2fv(at, values);
      else gl.uniform4fv(at, values);
    }
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, floats, gl.STREAM_DRAW, 0, count * this.words);
    gl.drawArrays(mode, 0, count);
  }
}

function linked(gl: WebGL2RenderingContext, [vertex, fragment]: [string, string]): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) throw new Error("the graphics context is lost");
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    const logs = (gl.getAttachedShaders(program) ?? []).map((each) => gl.getShaderInfoLog(each));
    throw new Error(`a shader does not compile: ${logs.join(" ")} ${gl.getProgramInfoLog(program)}`);
  }
  return program;
}

export class GlRenderer implements Renderer {
  readonly name = "WebGL2";
  private readonly marks: Layer;
  private readonly lines: Layer;
  private readonly edges = new Edges();

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    const look = (...floats: [string, number][]): Attribute[] => floats.map(([name, n]) => ({ name, floats: n }));
    this.marks = new Layer(gl, [MARKS, MARKS_PIXELS], look(["center", 2], ["look", 3]), ["clip", "ratio"]);
    this.lines = new Layer(gl, [EDGES, EDGES_PIXELS], look(["place", 2], ["look", 2]), ["viewport"]);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** A renderer for a canvas, or undefined if the browser has no WebGL2. */
  static on(canvas: HTMLCanvasElement): GlRenderer | undefined {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, premultipliedAlpha: true });
    return gl === null ? undefined : new GlRenderer(canvas, gl);
  }

  get isLost(): boolean {
    return this.gl.isContextLost();
  }

  draw(scene: Scene, camera: Camera): void {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const { edges } = this;
    edges.build(scene.rings, scene.lines, camera);
    this.lines.draw(gl.TRIANGLE_STRIP, edges.floats, edges.count, { viewport: [camera.width, camera.height] });
    const ratio = canvas.width / Math.max(1, camera.width);
    this.marks.draw(gl.POINTS, scene.marks.floats, scene.marks.count, { clip: camera.clip, ratio: [ratio] });
  }

  finish(): void {
    // Reading a pixel back waits; `gl.finish` does not in every browser.
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  release(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
