import { fieldsOf, stringOf } from '@addon-operator/json';
import { listOf, type ToTable } from '../output/tables.ts';
import { durationText, recordedRunTitle } from './run-tables.ts';

/** Cells lose blanks at their start. */
const GAP = '\u00a0'.repeat(3);
const BAR = '│  ';

type Fields = Readonly<Record<string, unknown>>;

interface Line {
  readonly tree: string;
  /** Undefined for a phase. */
  readonly run: Fields | undefined;
  readonly took: unknown;
}

/** The runs of an event as a tree: below each run are its phases, its hooks and what it led to. */
export const traceTable: ToTable = (data) => {
  const runs = listOf(fieldsOf(data)['runs']);
  const byId = new Map(runs.map((run) => [stringOf(run['id']), run]));
  const children = new Map<string, Fields[]>();
  for (const run of runs) {
    const parent = parentOf(run, byId);
    children.set(parent, [...(children.get(parent) ?? []), run]);
  }
  const lines = below('', '', children);
  return {
    columns: ['WHAT', 'RESULT', 'WAITED', 'TOOK', 'RUN', 'ERROR', 'ATTEMPT', 'QUEUE', 'STARTED', 'TRACE'],
    narrow: 6,
    rows: lines.map(({ tree, run = {}, took }) => [
      tree,
      stringOf(run['result']),
      durationText(run['waitMs']),
      durationText(took),
      stringOf(run['id']),
      stringOf(run['error']),
      typeof run['attempt'] === 'number' ? String(run['attempt']) : '',
      stringOf(run['queue']),
      stringOf(run['startedAt']),
      stringOf(run['traceId']),
    ]),
    names: runs.map((run) => stringOf(run['id'])),
  };
};

/** Id of the run that led to another one; attempts of one task are beside each other. Empty at the top. */
function parentOf(run: Fields, byId: ReadonlyMap<string, Fields>): string {
  const id = stringOf(run['causedBy']);
  const cause = byId.get(id);
  if (cause === undefined) return '';
  const task = stringOf(run['taskId']);
  return task !== '' && stringOf(cause['taskId']) === task ? parentOf(cause, byId) : id;
}

function below(id: string, indent: string, children: ReadonlyMap<string, readonly Fields[]>): Line[] {
  const runs = children.get(id) ?? [];
  return runs.flatMap((run, index) => {
    const isLast = index === runs.length - 1;
    const isTop = id === '';
    const own = isTop ? '' : `${indent}${isLast ? '└─ ' : '├─ '}`;
    const next = isTop ? '' : `${indent}${isLast ? GAP : BAR}`;
    const runId = stringOf(run['id']);
    const bar = (children.get(runId) ?? []).length > 0 ? BAR : GAP;
    const phases = listOf(run['phases']).map((phase) => ({
      tree: `${next}${bar}${stringOf(phase['name'])}`,
      run: undefined,
      took: phase['ms'],
    }));
    const title =
      run['attempt'] === 1 ? recordedRunTitle(run) : `${recordedRunTitle(run)} #${String(run['attempt'])}`;
    return [
      { tree: `${own}${title}`, run, took: run['durationMs'] },
      ...phases,
      ...below(runId, next, children),
    ];
  });
}
