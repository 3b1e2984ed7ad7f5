// Rows of a sorted table, grouped by a key, so that the last one before a time is found by bisection.

export class Groups {
  private readonly starts: Uint32Array;
  readonly rows: Uint32Array;
  private readonly times: Float64Array;

  /**
   * @param keys How many keys there are.
   * @param count How many rows to look at.
   * @param key The key of a row; below 0 leaves the row out.
   * @param time The time of a row; it never decreases.
   */
  constructor(keys: number, count: number, key: (row: number) => number, time: ArrayLike<number>) {
    this.starts = new Uint32Array(keys + 1);
    for (let row = 0; row < count; row++) if (key(row) >= 0) this.starts[key(row) + 1]++;
    for (let i = 0; i < keys; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice(0, keys);
    this.rows = new Uint32Array(this.starts[keys]);
    this.times = new Float64Array(this.starts[keys]);
    for (let row = 0; row < count; row++) {
      const into = key(row);
      if (into < 0) continue;
      this.times[next[into]] = time[row];
      this.rows[next[into]++] = row;
    }
  }

  /** The last row of a key at or before a time; −1 if there is none. */
  at(key: number, t: number): number {
    const from = this.starts[key];
    let [low, high] = [from, this.starts[key + 1]];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle] > t) high = middle;
      else low = middle + 1;
    }
    return low === from ? -1 : this.rows[low - 1];
  }

  /** All rows of a key, in order of time. */
  of(key: number): Uint32Array {
    return this.rows.subarray(this.starts[key], this.starts[key + 1]);
  }
}
