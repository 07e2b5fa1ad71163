/** Value below which the given share of the sorted values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1);
  return sorted[Math.max(0, index)] ?? Number.NaN;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** One line of a benchmark's report: figure, reference, ratio, and what we aim at. */
export function report(what: string, figure: string, reference: string, ratio: number, aim: string): void {
  process.stdout.write(
    `${what.padEnd(52)} ${figure.padStart(14)}   reference ${reference.padStart(14)}   ratio ${ratio.toFixed(3)}   aim ${aim}\n`,
  );
}

export function note(text: string): void {
  process.stdout.write(`${text}\n`);
}
