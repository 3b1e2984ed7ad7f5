// Draws a scene with WebGL2: marks, lines and rings, each in one call.

import type { Camera } from "./camera";
import type { Renderer } from "./renderer";
import type { Batch, Scene } from "./scene";

const HEAD = `#version 300 es
precision highp float;
uniform vec4 clip;      // scale and offset of x, then of y: metres to clip space
uniform vec2 viewport;  // in pixels of the style sheet
vec2 place(vec2 p) { return vec2(p.x * clip.x + clip.y, p.y * clip.z + clip.w); }
`;

const MARKS = `${HEAD}
in vec2 corner; in vec2 center; in vec3 look; in vec4 color;
out vec2 at; flat out float size; flat out int shape; flat out float part; out vec4 tint;
void main() {
  size = look.x; shape = int(look.y + 0.5); part = look.z; tint = color;
  at = corner * (size * 0.5 + 1.0);
  vec2 turned = at;
  if (shape == 4) { float c = cos(part), s = sin(part); turned = vec2(at.x * c - at.y * s, at.x * s + at.y * c); }
  gl_Position = vec4(place(center) + 2.0 * turned / viewport, 0.0, 1.0);
}`;

const MARKS_PIXELS = `#version 300 es
precision highp float;
in vec2 at; flat in float size; flat in int shape; flat in float part; in vec4 tint;
out vec4 pixel;
float segment(vec2 p, vec2 a, vec2 b) {
  vec2 pa = p - a, ba = b - a;
  return length(pa - ba * clamp(dot(pa, ba) / dot(ba, ba), 0.0, 1.0));
}
void main() {
  float r = size * 0.5, d = 0.0;
  if (shape == 0) d = length(at) - r;
  else if (shape == 1) d = abs(length(at) - r + 0.9) - 0.9;
  else if (shape == 2) { float k = r * 0.707; d = min(segment(at, vec2(-k), vec2(k)), segment(at, vec2(-k, k), vec2(k, -k))) - 1.3; }
  else if (shape == 3) { vec2 q = abs(at) - r * 0.886; d = abs(max(q.x, q.y) + 0.8) - 0.8; }
  else if (shape == 4) d = max(abs(at.y) * 0.894 + (at.x - r) * 0.447, -at.x - r * 0.8);
  else { vec2 q = abs(at) - vec2(2.0, r); d = max(q.x, q.y); if (at.y > (2.0 * part - 1.0) * r && d < -0.8) d = 0.35; }
  float cover = clamp(0.5 - d, 0.0, 1.0);
  if (cover <= 0.0) discard;
  pixel = vec4(tint.rgb, 1.0) * tint.a * cover;
}`;

const LINES = `${HEAD}
in vec2 corner; in vec4 ends; in vec2 look; in vec4 color;
out float side; flat out float half_width; out vec4 tint;
void main() {
  vec2 a = place(ends.xy) * viewport * 0.5, b = place(ends.zw) * viewport * 0.5;
  vec2 along = b - a;
  float length_px = max(length(along), 0.001);
  along /= length_px;
  float cut = min(look.y, length_px * 0.5);
  vec2 across = vec2(-along.y, along.x);
  half_width = look.x * 0.5;
  side = corner.y * (half_width + 1.0);
  vec2 p = mix(a + along * cut, b - along * cut, corner.x * 0.5 + 0.5) + across * side;
  tint = color;
  gl_Position = vec4(2.0 * p / viewport, 0.0, 1.0);
}`;

const RINGS = `${HEAD}
in vec2 corner; in vec3 circle; in float width; in vec4 color;
out float side; flat out float half_width; out vec4 tint;
void main() {
  // Half the circle per corner.x in [-1, 1]; corner.y is the side of the line.
  float angle = (corner.x + 1.0) * 3.14159265359;
  vec2 direction = vec2(cos(angle), sin(angle));
  half_width = width * 0.5;
  side = corner.y * (half_width + 1.0);
  vec2 p = place(circle.xy + circle.z * direction) + 2.0 * direction * side / viewport;
  tint = color;
  gl_Position = vec4(p, 0.0, 1.0);
}`;

const EDGE_PIXELS = `#version 300 es
precision highp float;
in float side; flat in float half_width; in vec4 tint;
out vec4 pixel;
void main() {
  float cover = clamp(half_width + 0.5 - abs(side), 0.0, 1.0);
  pixel = vec4(tint.rgb, 1.0) * tint.a * cover;
}`;

const RING_SEGMENTS = 72;

interface Attribute {
  name: string;
  floats: number;
}

/** One program and the buffer of its instances. */
class Layer {
  private readonly program: WebGLProgram;
  private readonly array: WebGLVertexArrayObject;
  private readonly buffer: WebGLBuffer;
  private readonly clip: WebGLUniformLocation | null;
  private readonly viewport: WebGLUniformLocation | null;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    sources: [string, string],
    private readonly corners: Float32Array<ArrayBuffer>,
    attributes: Attribute[],
  ) {
    this.program = linked(gl, sources);
    this.clip = gl.getUniformLocation(this.program, "clip");
    this.viewport = gl.getUniformLocation(this.program, "viewport");
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
    const corner = gl.getAttribLocation(this.program, "corner");
    gl.enableVertexAttribArray(corner);
    gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    const stride = 4 * (attributes.reduce((sum, each) => sum + each.floats, 0) + 1);
    let offset = 0;
    for (const { name, floats } of attributes) {
      this.attribute(name, floats, gl.FLOAT, stride, offset);
      offset += 4 * floats;
    }
    this.attribute("color", 4, gl.UNSIGNED_BYTE, stride, offset);
  }

  private attribute(name: string, size: number, type: number, stride: number, offset: number): void {
    const { gl } = this;
    const at = gl.getAttribLocation(this.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, type === gl.UNSIGNED_BYTE, stride, offset);
    gl.vertexAttribDivisor(at, 1);
  }

  draw(batch: Batch, camera: Camera): void {
    if (batch.count === 0) return;
    const { gl } = this;
    gl.useProgram(this.program);
    gl.uniform4f(this.clip, ...camera.clip);
    gl.uniform2f(this.viewport, camera.width, camera.height);
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, batch.floats.subarray(0, batch.count * batch.stride), gl.STREAM_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, this.corners.length / 2, batch.count);
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
  private readonly rings: Layer;

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    const square = new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]);
    const circle = new Float32Array(4 * (RING_SEGMENTS + 1));
    for (let i = 0; i <= RING_SEGMENTS; i++) {
      const x = (2 * i) / RING_SEGMENTS - 1;
      circle.set([x, -1, x, 1], 4 * i);
    }
    const look = (...floats: [string, number][]): Attribute[] => floats.map(([name, n]) => ({ name, floats: n }));
    this.marks = new Layer(gl, [MARKS, MARKS_PIXELS], square, look(["center", 2], ["look", 3]));
    this.lines = new Layer(gl, [LINES, EDGE_PIXELS], square, look(["ends", 4], ["look", 2]));
    this.rings = new Layer(gl, [RINGS, EDGE_PIXELS], circle, look(["circle", 3], ["width", 1]));
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
    this.rings.draw(scene.rings, camera);
    this.lines.draw(scene.lines, camera);
    this.marks.draw(scene.marks, camera);
  }

  finish(): void {
    // Reading a pixel back waits; `gl.finish` does not in every browser.
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}
