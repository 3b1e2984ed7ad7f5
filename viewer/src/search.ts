// Bisection in sorted columns.

/** The first index in [from, to) whose value is above `wanted`; `to` if none is. */
export function firstAbove(values: ArrayLike<number>, wanted: number, from = 0, to = values.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] > wanted) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The first index in [from, to) whose value is `wanted` or above; `to` if none is. */
export function firstFrom(values: ArrayLike<number>, wanted: number, from = 0, to = values.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (values[middle] >= wanted) to = middle;
    else from = middle + 1;
  }
  return from;
}
