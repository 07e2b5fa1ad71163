import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { note } from './figures.ts';
import type { Dimension, DimensionResult, Measurement } from './scale/figure.ts';
import { hooksDimension, queuesDimension } from './scale/hooks.ts';
import { modulesDimension } from './scale/modules.ts';
import { objectsDimension } from './scale/objects.ts';
import { scaleChart } from './scale/scale-chart.ts';
import { buildProgram } from './scale/scale-daemon.ts';
import { machine, scalePage, scaleRows } from './scale/scale-page.ts';

const DIMENSIONS: Readonly<
  Record<
    Dimension['name'],
    { readonly sizes: readonly number[]; readonly of: (sizes: readonly number[]) => Dimension }
  >
> = {
  modules: { sizes: [50, 200, 1_000], of: modulesDimension },
  objects: { sizes: [1_000, 10_000, 50_000], of: objectsDimension },
  hooks: { sizes: [10, 100, 500], of: hooksDimension },
  queues: { sizes: [1, 10, 100], of: queuesDimension },
};
const DOCS = join(import.meta.dirname, '..', 'docs');

export interface ScaleOptions {
  /** As `modules=50,200`: only dimensions that are named are measured; all with their own sizes when none is. */
  readonly sizes: readonly string[];
  /** Whether the results go to `docs/scale.md` and its charts. */
  readonly isWritten: boolean;
}

/** How the cost of modules, objects, hooks and queues grows with their number. */
export async function benchScale({ sizes, isWritten }: ScaleOptions): Promise<void> {
  buildProgram();
  note(machine());
  const results: DimensionResult[] = [];
  for (const dimension of dimensionsOf(sizes)) results.push(await measured(dimension));
  if (!isWritten) return;
  await writeFile(join(DOCS, 'scale.md'), scalePage(results));
  for (const result of results) await writeFile(join(DOCS, `scale-${result.name}.svg`), scaleChart(result));
}

async function measured(dimension: Dimension): Promise<DimensionResult> {
  const { name, description, figures } = dimension;
  note(`\n${name}: ${description}`);
  const measurements: Measurement[] = [];
  for (const size of dimension.sizes) {
    const measurement = await dimension.measure(size);
    note(`  ${size}: ${JSON.stringify(measurement.figures)}`);
    measurements.push(measurement);
  }
  const { head, rows } = scaleRows({ figures, measurements });
  for (const row of [head, ...rows])
    note(row.map((cell, column) => (column === 0 ? cell.padEnd(52) : cell.padStart(14))).join(' '));
  return { name, description, figures, measurements };
}

function dimensionsOf(chosen: readonly string[]): readonly Dimension[] {
  if (chosen.length === 0) return Object.values(DIMENSIONS).map(({ of, sizes }) => of(sizes));
  return chosen.map((text) => {
    const [name = '', list = ''] = text.split('=');
    const known = Object.entries(DIMENSIONS).find(([each]) => each === name)?.[1];
    const sizes = list === '' ? known?.sizes : list.split(',').map(Number);
    if (
      known === undefined ||
      sizes === undefined ||
      !sizes.every((size) => Number.isSafeInteger(size) && size > 0)
    ) {
      const names = Object.keys(DIMENSIONS).join(', ');
      throw new Error(`--sizes ${text}: expected NAME or NAME=SIZE,SIZE with a name of ${names}`);
    }
    return known.of(sizes);
  });
}
