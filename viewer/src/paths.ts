// Which nodes are joined by others that are within range of each other.

import type { Run } from "./model";

/** How often paths are looked for, in ns. */
export const CELL = 1e8;

export class Paths {
  private readonly known = new Map<number, Int32Array>();

  constructor(private readonly run: Run) {}

  /** Are two nodes joined, as it is at the begin of the tenth of a second of a time in ns? */
  areJoined(first: number, second: number, t: number): boolean {
    const cell = this.run.movement.isStatic ? 0 : Math.floor(t / CELL);
    let parts = this.known.get(cell);
    if (parts === undefined) this.known.set(cell, (parts = this.parts(cell * CELL)));
    return parts[first] === parts[second];
  }

  /** Of each node the number of the part of the network that it is in. */
  private parts(t: number): Int32Array {
    const { nodes, movement, range } = this.run;
    const places = Array.from({ length: nodes }, (_, node) => movement.position(node, t));
    const isHere = places.map((_, node) => movement.isPresent(node, t));
    const found = new Int32Array(nodes).fill(-1);
    for (let start = 0; start < nodes; start++) {
      if (found[start] >= 0) continue;
      found[start] = start;
      for (const edge = [start]; edge.length > 0; ) {
        const at = edge.pop() as number;
        if (!isHere[at]) continue;
        const [x, y] = places[at];
        for (let other = 0; other < nodes; other++) {
          if (found[other] >= 0 || !isHere[other]) continue;
          const [dx, dy] = [x - places[other][0], y - places[other][1]];
          if (dx * dx + dy * dy > range * range) continue;
          found[other] = start;
          edge.push(other);
        }
      }
    }
    return found;
  }
}
