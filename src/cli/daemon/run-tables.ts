import { fieldsOf, stringOf, stringsOf } from '@addon-operator/json';
import { headlineOf, linesBelow } from '@addon-operator/strings/headline';
import { listOf, numberCell, type ToTable } from '../output/tables.ts';
import { untilCell } from '../output/time-cells.ts';

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
      stringOf(run['id']),
      stringOf(run['startedAt']),
      stringOf(run['result']),
      recordedRunTitle(run),
      durationText(run['durationMs']),
      headlineOf(stringOf(run['error'])),
      durationText(run['waitMs']),
      stringOf(run['queue']),
      String(run['attempt']),
      stringOf(run['trigger']),
      stringOf(run['eventId']),
    ]),
    names: runs.map((run) => `run/${stringOf(run['id'])}`),
    ifEmpty: 'no run',
  };
};

/** One run as rows of names and values. */
export const runTable: ToTable = (data) => {
  const run = fieldsOf(data);
  const patches = fieldsOf(run['patches']);
  const output = fieldsOf(run['output']);
  const rows: (readonly [string, string])[] = [
    ['run', stringOf(run['id'])],
    ['what', recordedRunTitle(run)],
    ['result', stringOf(run['result'])],
    ['error', headlineOf(stringOf(run['error']))],
    ...linesOf(linesBelow(stringOf(run['error']))).map((line) => ['', line] as const),
    ['code', stringOf(run['code'])],
    ['trigger', stringOf(run['trigger'])],
    ['event', stringOf(run['eventId'])],
    ['trace', stringOf(run['traceId'])],
    ['queue', stringOf(run['queue'])],
    ['task', stringOf(run['taskId'])],
    ['attempt', String(run['attempt'])],
    ['started', stringOf(run['startedAt'])],
    ['ended', stringOf(run['endedAt'])],
    ['', run['isOfEarlierStart'] === true ? 'before the last start of the operator' : ''],
    ['waited', durationText(run['waitMs'])],
    ['took', durationText(run['durationMs'])],
    ['exit code', numberCell(run['exitCode'])],
    ['signal', stringOf(run['signal'])],
    ['bindings', stringsOf(run['bindings']).join(', ')],
    ['contexts', run['hook'] === '' ? '' : numberCell(run['contexts'])],
    ['CPU time', durationText(run['cpuMs'])],
    ['memory', bytesText(run['maxRssBytes'])],
    ...listOf(run['phases']).map(
      (phase) => ['phase', `${stringOf(phase['name'])} ${durationText(phase['ms'])}`] as const,
    ),
    ['patches', `${String(patches['values'])} of values, ${String(patches['objects'])} of objects`],
    ['run it', stringOf(run['command'])],
    ...listOf(run['cause']).map((other) => ['led to it', relatedText(other)] as const),
    ...listOf(run['effects']).map((other) => ['led to', relatedText(other)] as const),
    ...outputLines(output).map((line) => ['output', line] as const),
  ];
  return {
    columns: ['FIELD', 'VALUE'],
    narrow: 2,
    rows: rows.filter(([, value]) => value !== ''),
    names: [`run/${stringOf(run['id'])}`],
  };
};

/** Things that happen at known times, the next one first. */
export const nextTable: ToTable = (data, now) => {
  const items = listOf(fieldsOf(data)['items']);
  return {
    columns: ['IN', 'MODULE', 'HOOK', 'SCHEDULE', 'KIND', 'AT', 'WHAT'],
    narrow: 5,
    rows: items.map((item) => [
      untilCell(stringOf(item['at']), now),
      ...['module', 'hook', 'crontab', 'kind', 'at', 'text'].map((name) => stringOf(item[name])),
    ]),
    names: items.map((item) => stringOf(item['module']) || stringOf(item['hook'])),
    ifEmpty: 'nothing is due at a known time',
  };
};

/** The subject of a run, such as `ModuleRun web` or `HookRun web/a.sh (beforeHelm)`. */
export function recordedRunTitle(run: Fields): string {
  const subject = [stringOf(run['module']), stringOf(run['hook'])].filter((name) => name !== '').join('/');
  const binding = stringOf(run['binding']);
  return [stringOf(run['type']), subject, binding === '' ? '' : `(${binding})`]
    .filter((part) => part !== '')
    .join(' ');
}

function relatedText(run: Fields): string {
  return `run ${stringOf(run['id'])}: ${recordedRunTitle(run)}, ${stringOf(run['result'])}`;
}

export function durationText(ms: unknown): string {
  if (typeof ms !== 'number') return '';
  return ms < SECOND_MS ? `${Math.round(ms)}ms` : `${(ms / SECOND_MS).toFixed(1)}s`;
}

function bytesText(bytes: unknown): string {
  return typeof bytes === 'number' ? `${(bytes / (1024 * 1024)).toFixed(1)} MiB at most` : '';
}

function outputLines(output: Fields): readonly string[] {
  return linesOf(`${stringOf(output['head'])}${stringOf(output['tail'])}`).slice(-SHOWN_OUTPUT_LINES);
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
