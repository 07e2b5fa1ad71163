import { fieldsOf, isObject, stringOf, stringsOf } from '@addon-operator/json';
import { headlineOf } from '@addon-operator/strings/headline';
import { textTable } from '../../status/module-explanation.ts';
import { ageCell, type Now, untilCell } from './time-cells.ts';

/** Data of the debug endpoint as rows. */
export interface Table {
  /** Columns that `wide` adds come last. */
  readonly columns: readonly string[];
  /** How many columns `table` shows. */
  readonly narrow: number;
  readonly rows: readonly (readonly string[])[];
  /** Names of what the rows are about. */
  readonly names: readonly string[];
  /** Shown in place of a table without rows; absent: its columns. */
  readonly ifEmpty?: string;
  /** Paragraphs below the table. */
  readonly below?: readonly string[];
}

/** Makes the table of a response. */
export type ToTable = (data: unknown, now?: Now) => Table;

/** A cell of `table` is cut behind this, one of `wide` is not. The last column is for what happened, or why. */
const CELL_LENGTH = 80;
const LAST_CELL_LENGTH = 160;

/** The table as text: cells are one line each and hold no control characters. */
export function tableText(
  { columns, narrow, rows, names, ifEmpty, below = [] }: Table,
  format: 'table' | 'wide' | 'name',
): string {
  if (format === 'name') return names.map((name) => textTable([[name]])).join('');
  const lengthOf = (index: number): number => (index === narrow - 1 ? LAST_CELL_LENGTH : CELL_LENGTH);
  const shown =
    format === 'wide'
      ? [columns, ...rows]
      : [columns, ...rows].map((row) =>
          row.slice(0, narrow).map((cell, index) => shortened(cell, lengthOf(index))),
        );
  const isEmpty = rows.length === 0 && ifEmpty !== undefined;
  return [isEmpty ? `${ifEmpty}\n` : textTable(shown), ...below].join('\n');
}

const MODULE_COLUMNS: readonly string[] =
  'NAME,READY,STATUS,VERSION,REVISION,SINCE,NEXT,MESSAGE,WANTED,ENABLED,SOURCE,REASON,WAITS FOR'.split(',');

const NO_CONDITION: ReadonlySet<string> = new Set(['disabled', 'undecided', 'deleting', 'paused']);
const READY: ReadonlySet<string> = new Set(['ready', 'held-up']);

/**
 * Modules in run order, with the first thing in the way of each.
 *
 * @param isAll names are those of all modules, instead of the enabled ones and those that no discovery has decided about
 */
export function modulesTable(isAll: boolean): ToTable {
  return (data, now) => {
    const modules = listOf(fieldsOf(data)['modules']);
    const named = modules.filter(
      (module) => isAll || module['isEnabled'] === true || module['status'] === 'undecided',
    );
    return {
      columns: MODULE_COLUMNS,
      narrow: MODULE_COLUMNS.indexOf('WANTED'),
      rows: modules.map((module) => [
        stringOf(module['module']),
        readyWord(stringOf(module['status'])),
        stringOf(module['status']),
        stringOf(module['version']),
        numberCell(module['revision']),
        ageCell(stringOf(module['since']), now),
        untilCell(stringOf(module['nextTryAt']), now),
        moduleMessage(module),
        wantedVersion(fieldsOf(module['update'])),
        module['isEnabled'] === true ? 'yes' : 'no',
        stringOf(module['source']),
        stringOf(module['reason']),
        stringsOf(module['waitsFor']).join('; '),
      ]),
      names: named.map((module) => stringOf(module['module'])),
      ifEmpty: 'no module',
    };
  };
}

function readyWord(status: string): string {
  if (NO_CONDITION.has(status)) return '-';
  return READY.has(status) ? 'yes' : 'no';
}

/** The versions that a source delivered, else the revisions of the release. */
export const historyTable: ToTable = (data) => {
  const { revisions, versions } = fieldsOf(data);
  const delivered = listOf(versions);
  const entries = delivered.length > 0 ? delivered : listOf(revisions);
  const rows = entries.map((entry) => [
    numberCell(entry['revision']),
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
  // The error of the task in front is in the row of its module.
  const [wait = ''] = nearest.split('; ');
  if (wait !== '' && stringOf(module['heldUpRef']).startsWith('queue/')) return wait;
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

export const globalHooksTable: ToTable = (data) => namesTable(fieldsOf(data)['globalHooks']);

export const hooksTable: ToTable = (data) => namesTable(fieldsOf(data)['hooks']);

function namesTable(hooks: unknown): Table {
  const names = stringsOf(hooks);
  return { columns: ['HOOK'], narrow: 1, rows: names.map((name) => [name]), names };
}

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

/** A number; empty for anything else. */
export function numberCell(value: unknown): string {
  return typeof value === 'number' ? String(value) : '';
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
