import { availableParallelism, cpus, totalmem } from 'node:os';
import { markdownTable } from '@addon-operator/strings/markdown-table';
import { costsOfOne, type DimensionResult, type Figure, shown } from './figure.ts';

const BYTES_PER_GB = 1e9;

/** The table of one dimension: a row for each figure, a column for each size, then the growth and the goal. */
export function scaleRows({ figures, measurements }: Omit<DimensionResult, 'name' | 'description'>): {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const sizes = measurements.map(({ size }) => size.toLocaleString('en'));
  return {
    head: ['', ...sizes, 'cost of one, largest to smallest', 'goal'],
    rows: figures.map((figure) => [
      figure.title,
      ...measurements.map((measurement) => shown(measurement.figures[figure.key] ?? Number.NaN, figure.unit)),
      figure.isTotal === true ? shown(costsOfOne(figure, measurements).at(-1) ?? Number.NaN) : '',
      goalOf(figure),
    ]),
  };
}

function goalOf({ goal, isTotal, unit }: Figure): string {
  const limits = [
    ...(isTotal === true ? ['cost of one ≤ 1.2'] : []),
    ...(goal === undefined ? [] : [`≤ ${shown(goal.most, unit)} at ${goal.size.toLocaleString('en')}`]),
  ];
  return limits.join(', ');
}

/** `docs/scale.md`. */
export function scalePage(results: readonly DimensionResult[]): string {
  const sections = results.map((result) => {
    const { head, rows } = scaleRows(result);
    return `## ${result.name[0]?.toUpperCase()}${result.name.slice(1)}

${result.description}

${markdownTable(head, rows)}

![Cost of one of many ${result.name}](scale-${result.name}.svg)
`;
  });
  return `# Scale

This page shows how much time, memory and how many requests the operator needs as the work grows. Each table varies the number of one kind of object. Each chart shows
the cost of one object at each size, as a multiple of its cost at the smallest size, without the base cost of the operator. A level line means that the cost grows linearly. \`npm run bench -- scale --write\` measures this page.

Measured on ${machine()}: the API server is the [sandbox](sandbox.md) in a process of its own on the same machine, helm is the real one.

${sections.join('\n')}`;
}

export function machine(): string {
  const [cpu] = cpus();
  const memory = (totalmem() / BYTES_PER_GB).toFixed(0);
  return `${availableParallelism()} processors (${cpu?.model.trim() ?? 'unknown'}), ${memory} GB of memory, Node ${process.versions.node}`;
}
