/** So much of the smallest size may be taken for the cost of the start. */
const MOST_FIXED = 0.9;

/** One figure of a dimension, measured at each of its sizes. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: 's' | 'ms' | 'MB' | '';
  /** Whether the figure grows with the size, so that its cost for one module, object, hook or run is what has to stay the same. Default false. */
  readonly isTotal?: boolean;
  /** The most that the largest size may take. */
  readonly goal?: { readonly size: number; readonly most: number };
}

/** What one size was measured to be, by the key of the figure. */
export interface Measurement {
  readonly size: number;
  readonly figures: Readonly<Record<string, number>>;
}

/** Something there may be many of. */
export interface Dimension {
  readonly name: 'modules' | 'objects' | 'hooks' | 'queues';
  /** What was measured, in a sentence. */
  readonly description: string;
  readonly sizes: readonly number[];
  readonly figures: readonly Figure[];
  measure(size: number): Promise<Measurement>;
}

export interface DimensionResult extends Pick<Dimension, 'name' | 'description' | 'figures'> {
  readonly measurements: readonly Measurement[];
}

/**
 * What one costs at each size, as a multiple of what it costs at the smallest; 1 is linear. What a daemon costs without any of them, as the
 * two smallest sizes show it, is left out: it would hide that one of many costs more.
 */
export function costsOfOne({ key }: Figure, measurements: readonly Measurement[]): readonly number[] {
  const points = measurements.map(({ size, figures }) => ({ size, value: figures[key] ?? Number.NaN }));
  const fixed = points.length < 3 ? 0 : fixedCost(points);
  const costs = points.map(({ size, value }) => (value - fixed) / size);
  return costs.map((cost) => cost / (costs[0] ?? Number.NaN));
}

interface Point {
  readonly size: number;
  readonly value: number;
}

/** Of the line through the two smallest sizes. */
function fixedCost([first, second]: readonly Point[]): number {
  if (first === undefined || second === undefined) return 0;
  const slope = (second.value - first.value) / (second.size - first.size);
  const fixed = first.value - slope * first.size;
  return Math.min(Math.max(0, fixed), first.value * MOST_FIXED);
}

/** Three significant digits. */
export function shown(value: number, unit: Figure['unit'] = ''): string {
  if (!Number.isFinite(value)) return '–';
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
  return unit === '' ? text : `${text} ${unit}`;
}
