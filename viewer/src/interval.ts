// Means of repeated runs with intervals of Student's t, as manetlab.stats computes them.

export interface Interval {
  mean: number;
  /** Half of the interval's width; undefined for fewer than two values. */
  half: number | undefined;
  n: number;
}

export const CONFIDENCE = 0.95;

/** The mean of values with its interval of 95 %. */
export function meanInterval(values: readonly number[]): Interval {
  const n = values.length;
  const mean = values.reduce((sum, each) => sum + each, 0) / n;
  if (n < 2) return { mean, half: undefined, n };
  const variance = values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1);
  return { mean, half: tQuantile((1 + CONFIDENCE) / 2, n - 1) * Math.sqrt(variance / n), n };
}

/** The quantile of Student's t above the median, by bisection. */
export function tQuantile(probability: number, degrees: number): number {
  let [low, high] = [0, 1];
  while (tBelow(high, degrees) < probability) high *= 2;
  for (let i = 0; i < 100; i++) {
    const middle = (low + high) / 2;
    if (tBelow(middle, degrees) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(T ≤ t) for t ≥ 0: finite sums (Abramowitz and Stegun 26.7.3 and 26.7.4). */
function tBelow(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, square] = [Math.sin(angle), Math.cos(angle) ** 2];
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? Math.cos(angle) : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let k = isOdd ? 2 : 1; k <= degrees - 3 + (isOdd ? 0 : 0); k += 2) {
    term *= (square * k) / (k + 1);
    sum += term;
  }
  const within = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return (1 + within) / 2;
}
