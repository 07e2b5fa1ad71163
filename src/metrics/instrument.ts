/** One metric of the daemon in memory, optimized for scrapes with many series. */

import { escapeLabel, numberText } from './exposition.ts';
import type { MetricDefinition } from './metric-definition.ts';

/** Values of labels; one that is absent is not in the series. */
export type LabelValues<L extends string> = { readonly [Name in L]?: string | number };

interface Cell {
  /** The sum of a histogram or summary. */
  value: number;
  /** Used by histograms and summaries only. */
  count: number;
  /** Observations by bucket, not cumulated. */
  readonly bucketCounts: number[];
}

/** Characters that need escaping, or replacement, in the value of a label. */
const SPECIAL = /["\\\n\ud800-\udfff]/;

/**
 * One metric of the daemon with its series. The label part of each line is composed when a series is created, because a
 * scrape of a thousand modules has tens of thousands of lines.
 */
export class Instrument<L extends string> {
  readonly #name: string;
  readonly #definition: MetricDefinition<L>;
  /** By the label part of the line. */
  readonly #cells = new Map<string, Cell>();

  constructor(name: string, definition: MetricDefinition<L>) {
    this.#name = name;
    this.#definition = definition;
    this.reset();
  }

  /** Adds to a counter or a gauge. */
  inc(labels: LabelValues<L>, value = 1): void {
    this.#cell(labels).value += value;
  }

  /** Sets a gauge. */
  set(labels: LabelValues<L>, value: number): void {
    this.#cell(labels).value = value;
  }

  /** Adds a value to a summary, or to a histogram and its bucket. */
  observe(labels: LabelValues<L>, value: number): void {
    const cell = this.#cell(labels);
    cell.value += value;
    cell.count += 1;
    const bucket = this.#definition.buckets.findIndex((bound) => value <= bound);
    if (bucket >= 0) cell.bucketCounts[bucket] = (cell.bucketCounts[bucket] ?? 0) + 1;
  }

  remove(labels: LabelValues<L>): void {
    this.#cells.delete(this.#labelPart(labels));
  }

  /** Removes all series. A metric without labels keeps its only one, at zero. */
  reset(): void {
    this.#cells.clear();
    if (this.#definition.labels.length === 0) this.#cell({});
  }

  /** The metric in the Prometheus text format, with its head also when there are no series. */
  text(): string {
    const { help, type } = this.#definition;
    const name = this.#name;
    const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    if (type === 'histogram')
      return head + this.#distributionText([...this.#definition.buckets.map(String), '+Inf']);
    if (type === 'summary') return head + this.#distributionText([]);
    let output = head;
    for (const [labels, { value }] of this.#cells)
      output += `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
    return output;
  }

  /** Heads of lines are composed once for all series. @param bounds of the buckets that are exported */
  #distributionText(bounds: readonly string[]): string {
    let output = '';
    const name = this.#name;
    const heads = bounds.map((bound) => `${name}_bucket{le="${bound}"`);
    for (const [labels, { value, count, bucketCounts }] of this.#cells) {
      const rest = labels === '' ? '} ' : `,${labels}} `;
      const own = labels === '' ? ' ' : `{${labels}} `;
      let cumulated = 0;
      for (const [index, head] of heads.entries()) {
        const isLast = index === heads.length - 1;
        cumulated += bucketCounts[index] ?? 0;
        output += `${head}${rest}${isLast ? count : cumulated}\n`;
      }
      output += `${name}_sum${own}${numberText(value)}\n${name}_count${own}${count}\n`;
    }
    return output;
  }

  #cell(labels: LabelValues<L>): Cell {
    const key = this.#labelPart(labels);
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { value: 0, count: 0, bucketCounts: this.#definition.buckets.map(() => 0) };
      this.#cells.set(key, cell);
    }
    return cell;
  }

  /** Labels in the order of the definition, so that equal labels give equal keys. */
  #labelPart(labels: LabelValues<L>): string {
    let output = '';
    for (const name of this.#definition.labels) {
      const value: string | number | undefined = labels[name];
      if (value === undefined) continue;
      const plain = String(value);
      output += `${output === '' ? '' : ','}${name}="${SPECIAL.test(plain) ? escapeLabel(plain) : plain}"`;
    }
    return output;
  }
}
