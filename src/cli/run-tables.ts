import { fieldsOf, textOf } from '@addon-operator/json';
import { listOf, type ToTable } from './tables.ts';

const SHOWN_OUTPUT_LINES = 20;
const SECOND_MS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

export const runsTable: ToTable = (data) => {
  const runs = listOf(fieldsOf(data)['runs']);
  return {
    columns: [
      'RUN',
      'STARTED',
      'RESULT',
      'WHAT',
      'TOOK',
      'ERROR',
      'WAITED',
      'QUEUE',
      'ATTEMPT',
      'TRIGGER',
      'EVENT',
    ],
    narrow: 6,
    rows: runs.map((run) => [
      textOf(run['id']),
      textOf(run['startedAt']),
      textOf(run['result']),
      titleOf(run),
      durationText(run['durationMs']),
      textOf(run['error']),
      durationText(run['waitMs']),
      textOf(run['queue']),
      String(run['attempt']),
      textOf(run['trigger']),
      textOf(run['eventId']),
    ]),
    names: runs.map((run) => textOf(run['id'])),
  };
};

/** One run as rows of names and values. */
export const runTable: ToTable = (data) => {
  const run = fieldsOf(data);
  const patches = fieldsOf(run['patches']);
  const output = fieldsOf(run['output']);
  const rows: (readonly [string, string])[] = [
    ['run', textOf(run['id'])],
    ['what', titleOf(run)],
    ['result', textOf(run['result'])],
    ['error', textOf(run['error'])],
    ['code', textOf(run['code'])],
    ['trigger', textOf(run['trigger'])],
    ['event', textOf(run['eventId'])],
    ['trace', textOf(run['traceId'])],
    ['queue', textOf(run['queue'])],
    ['task', textOf(run['taskId'])],
    ['attempt', String(run['attempt'])],
    ['started', textOf(run['startedAt'])],
    ['ended', textOf(run['endedAt'])],
    ['waited', durationText(run['waitMs'])],
    ['took', durationText(run['durationMs'])],
    ['CPU time', durationText(run['cpuMs'])],
    ...listOf(run['phases']).map(
      (phase) => ['phase', `${textOf(phase['name'])} ${durationText(phase['ms'])}`] as const,
    ),
    ['patches', `${String(patches['values'])} of values, ${String(patches['objects'])} of objects`],
    ...listOf(run['cause']).map((other) => ['led to it', relatedText(other)] as const),
    ...listOf(run['effects']).map((other) => ['led to', relatedText(other)] as const),
    ...outputLines(output).map((line) => ['output', line] as const),
  ];
  return {
    columns: ['FIELD', 'VALUE'],
    narrow: 2,
    rows: rows.filter(([, value]) => value !== ''),
    names: [textOf(run['id'])],
  };
};

export const nextTable: ToTable = (data) => {
  const items = listOf(fieldsOf(data)['items']);
  return {
    columns: ['AT', 'KIND', 'WHAT', 'MODULE', 'HOOK', 'CRONTAB'],
    narrow: 3,
    rows: items.map((item) =>
      ['at', 'kind', 'text', 'module', 'hook', 'crontab'].map((name) => textOf(item[name])),
    ),
    names: items.map((item) => textOf(item['module']) || textOf(item['hook'])),
  };
};

/** What ran, such as `ModuleRun web` or `HookRun web/a.sh (beforeHelm)`. */
export function titleOf(run: Fields): string {
  const subject = [textOf(run['module']), textOf(run['hook'])].filter((name) => name !== '').join('/');
  const binding = textOf(run['binding']);
  return [textOf(run['type']), subject, binding === '' ? '' : `(${binding})`]
    .filter((part) => part !== '')
    .join(' ');
}

function relatedText(run: Fields): string {
  return `run ${textOf(run['id'])}: ${titleOf(run)}, ${textOf(run['result'])}`;
}

export function durationText(ms: unknown): string {
  if (typeof ms !== 'number') return '';
  return ms < SECOND_MS ? `${Math.round(ms)}ms` : `${(ms / SECOND_MS).toFixed(1)}s`;
}

function outputLines(output: Fields): readonly string[] {
  const text = `${textOf(output['head'])}${textOf(output['tail'])}`;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-SHOWN_OUTPUT_LINES);
}
