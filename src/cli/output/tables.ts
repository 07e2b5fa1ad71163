import { fieldsOf, isObject, stringOf, stringsOf } from '@addon-operator/json';
import { headlineOf } from '@addon-operator/strings/headline';
import { textTable } from '../../status/module-explanation.ts';

/** Data of the debug endpoint as rows. */
export interface Table {
  /** Columns that `wide` adds come last. */
  readonly columns: readonly string[];
  /** How many columns `table` shows. */
  readonly narrow: number;
  readonly rows: readonly (readonly string[])[];
  /** Names of what the rows are about. */
  readonly names: readonly string[];
}

/** Makes the table of a response. */
export type ToTable = (data: unknown) => Table;

/** A cell of `table` is cut behind this, one of `wide` is not. The last column is for what happened, or why. */
const CELL_LENGTH = 80;
const LAST_CELL_LENGTH = 160;

/** The table as text: cells are one line each and hold no control characters. */
export function tableText(
  { columns, narrow, rows, names }: Table,
  format: 'table' | 'wide' | 'name',
): string {
  if (format === 'name') return names.map((name) => textTable([[name]])).join('');
  if (format === 'wide') return textTable([columns, ...rows]);
  const lengthOf = (index: number): number => (index === narrow - 1 ? LAST_CELL_LENGTH : CELL_LENGTH);
  return textTable(
    [columns, ...rows].map((row) =>
      row.slice(0, narrow).map((cell, index) => shortened(cell, lengthOf(index))),
    ),
  );
}

/** All modules, or the enabled ones and those that no discovery has decided about yet, with the first of their troubles. */
export function modulesTable(isAll: boolean): ToTable {
  return (data) => {
    const modules = listOf(fieldsOf(data)['modules']).filter(
      (module) => isAll || module['isEnabled'] === true || module['status'] === 'undecided',
    );
    return {
      columns: [
        'MODULE',
        'STATUS',
        'VERSION',
        'WANTED',
        'MESSAGE',
        'NEXT TRY',
        'ENABLED',
        'SOURCE',
        'REASON',
        'WAITS FOR',
      ],
      narrow: 5,
      rows: modules.map((module) => [
        stringOf(module['module']),
        stringOf(module['status']),
        stringOf(module['version']),
        wantedVersion(fieldsOf(module['update'])),
        moduleMessage(module),
        stringOf(module['nextTryAt']),
        module['isEnabled'] === true ? 'yes' : 'no',
        stringOf(module['source']),
        stringOf(module['reason']),
        stringsOf(module['waitsFor']).join('; '),
      ]),
      names: modules.map((module) => stringOf(module['module'])),
    };
  };
}

/** The versions that a source delivered, else the revisions of the release. */
export const historyTable: ToTable = (data) => {
  const { revisions, versions } = fieldsOf(data);
  const delivered = listOf(versions);
  const entries = delivered.length > 0 ? delivered : listOf(revisions);
  const rows = entries.map((entry) => [
    typeof entry['revision'] === 'number' ? String(entry['revision']) : '',
    stringOf(entry['version']),
    shortDigest(stringOf(entry['digest']) || stringOf(entry['files'])),
    stringOf(entry['at']) || stringOf(entry['deployedAt']),
    stringOf(entry['outcome']),
    stringOf(entry['reason']),
  ]);
  return {
    columns: ['REVISION', 'VERSION', 'DIGEST', 'DEPLOYED', 'STATUS', 'REASON'],
    narrow: 6,
    rows,
    // What `module rollback --to` takes.
    names: rows.map(([revision = '', version = '']) => (delivered.length > 0 ? version : revision)),
  };
};

/** The objects of a module; the newest Event stands in for all. */
export const objectsTable: ToTable = (data) => {
  const objects = listOf(fieldsOf(data)['objects']);
  return {
    columns: ['STATE', 'KIND', 'NAMESPACE', 'NAME', 'REASON', 'DRIFT', 'CREATED', 'LAST EVENT', 'LOGS'],
    narrow: 5,
    rows: objects.map((object) => {
      const [event] = listOf(object['events']);
      return [
        stringOf(object['state']),
        stringOf(object['kind']),
        stringOf(object['namespace']),
        stringOf(object['name']),
        stringOf(object['reason']),
        stringsOf(object['drift']).join(', '),
        stringOf(object['createdAt']),
        event === undefined ? '' : `${stringOf(event['reason'])}: ${stringOf(event['message'])}`,
        stringOf(object['logs']),
      ];
    }),
    names: objects.map((object) => `${stringOf(object['kind'])}/${stringOf(object['name'])}`),
  };
};

const SHOWN_DIGEST = 12;

/** The first characters, which distinguish the digests of one module. */
function shortDigest(digest: string): string {
  return digest.replace(/^sha256:/, '').slice(0, SHOWN_DIGEST);
}

function moduleMessage(module: Readonly<Record<string, unknown>>): string {
  const paused = stringOf(fieldsOf(module['paused'])['reason']);
  if (paused !== '') return `paused: ${paused}`;
  const [nearest = ''] = stringsOf(module['waitsFor']);
  return (
    headlineOf(stringOf(module['lastError'])) ||
    stringOf(module['heldUpBy']) ||
    updateMessage(fieldsOf(module['update'])) ||
    nearest ||
    (module['status'] === 'ready' ? '' : stringOf(module['reason']))
  );
}

function updateMessage(update: Readonly<Record<string, unknown>>): string {
  const [reason, version] = [stringOf(update['reason']), stringOf(update['version'])];
  return reason === '' ? '' : `update${version === '' ? '' : ` to ${version}`}: ${reason}`;
}

function wantedVersion(update: Readonly<Record<string, unknown>>): string {
  return stringOf(update['version']) || shortDigest(stringOf(update['digest']));
}

/** The tasks of all queues, or of one. */
export const queuesTable: ToTable = (data) => {
  const { active, empty } = fieldsOf(data);
  const queues = active === undefined ? listOf([data]) : [...listOf(active), ...listOf(empty)];
  return {
    columns: ['QUEUE', '#', 'TASK', 'STATUS'],
    narrow: 4,
    rows: queues.filter(isShown).flatMap((queue) => {
      const tasks = listOf(queue['tasks']);
      const [name, status] = [stringOf(queue['name']), stringOf(queue['status'])];
      if (tasks.length === 0) return [[name, '-', '', status || 'idle']];
      return tasks.map((task, index) => [
        name,
        String(task['index']),
        stringOf(task['description']),
        index === 0 ? status : '',
      ]);
    }),
    names: queues.filter(isShown).map((queue) => stringOf(queue['name'])),
  };
};

/** Queues for modules that run in parallel exist all the time, and say something only while they have tasks. */
function isShown(queue: Readonly<Record<string, unknown>>): boolean {
  return listOf(queue['tasks']).length > 0 || !stringOf(queue['name']).startsWith('parallel_queue_');
}

export const parametersTable: ToTable = (data) => ({
  columns: ['NAME', 'VALUE', 'EXPIRE AT', 'DEFAULT', 'DESCRIPTION'],
  narrow: 3,
  rows: listOf(data).map((row) => [
    stringOf(row['name']),
    stringOf(row['value']),
    stringOf(row['expireAt']),
    stringOf(row['default']),
    stringOf(row['lastError']) || stringOf(row['description']),
  ]),
  names: listOf(data).map((row) => stringOf(row['name'])),
});

export const globalHooksTable: ToTable = (data) => {
  const names = stringsOf(fieldsOf(data)['globalHooks']);
  return { columns: ['HOOK'], narrow: 1, rows: names.map((name) => [name]), names };
};

/** Each value of a document with its place in it. */
export const documentTable: ToTable = (data) => ({
  columns: ['KEY', 'VALUE'],
  narrow: 2,
  rows: [...leavesOf(data, '')],
  names: Object.keys(fieldsOf(data)),
});

/** Only its name: the operator's text is a table. */
export const explanationTable: ToTable = (data) => ({
  columns: ['MODULE'],
  narrow: 1,
  rows: [[stringOf(fieldsOf(data)['module'])]],
  names: [stringOf(fieldsOf(data)['module'])],
});

function* leavesOf(value: unknown, place: string): Generator<readonly [string, string]> {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  if (entries.length === 0 && place !== '')
    yield [place, typeof value === 'string' ? value : (JSON.stringify(value) ?? '')];
  for (const [key, item] of entries) yield* leavesOf(item, place === '' ? String(key) : `${place}.${key}`);
}

/** The objects of a list; empty for anything else. */
export function listOf(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.map(fieldsOf) : [];
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
