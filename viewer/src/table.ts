// Columns that grow as blocks are read.

export type Column = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

const KINDS = { f64: Float64Array, i32: Int32Array, u32: Uint32Array, u16: Uint16Array, u8: Uint8Array } as const;
export type ColumnKind = keyof typeof KINDS;
type Of<K extends ColumnKind> = InstanceType<(typeof KINDS)[K]>;

/** Columns of equal length, in typed arrays. Arrays are replaced when they grow: don't keep them. */
export class Table<S extends Record<string, ColumnKind>> {
  readonly columns: { [N in keyof S]: Of<S[N]> };
  length = 0;
  private capacity = 0;

  constructor(private readonly kinds: S) {
    this.columns = {} as { [N in keyof S]: Of<S[N]> };
    this.reserve(256);
  }

  /** Makes room for so many further rows. */
  reserve(rows: number): void {
    const needed = this.length + rows;
    if (needed <= this.capacity) return;
    this.capacity = Math.max(needed, this.capacity * 2);
    for (const name of Object.keys(this.kinds) as (keyof S & string)[]) {
      const larger = new KINDS[this.kinds[name]](this.capacity);
      const before = this.columns[name] as Column | undefined;
      if (before !== undefined) larger.set(before as Uint8Array);
      this.columns[name] = larger as Of<S[typeof name]>;
    }
  }
}
