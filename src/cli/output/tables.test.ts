import { expect, test } from 'vitest';
import {
  documentTable,
  globalHooksTable,
  historyTable,
  modulesTable,
  parametersTable,
  queuesTable,
  tableText,
} from './tables.ts';

const WEB = {
  module: 'web',
  status: 'ready',
  isEnabled: true,
  source: 'config-map',
  reason: 'webEnabled',
  waitsFor: [],
  version: '1.3.0',
};
const MODULES = {
  modules: [
    { ...WEB, lastError: null, nextTryAt: null, paused: null },
    {
      ...WEB,
      module: 'db',
      status: 'failing',
      lastError: `boom\n\u001b[2J${'x'.repeat(170)}`,
      nextTryAt: '08:00',
      paused: null,
    },
    { ...WEB, module: 'off', status: 'disabled', isEnabled: false, reason: 'offEnabled is false' },
  ],
};

test('modules are rows with what troubles them, cut only in the narrow form', () => {
  const table = modulesTable(false)(MODULES);
  expect(tableText(table, 'table').split('\n')).toEqual([
    expect.stringMatching(/^MODULE {2}STATUS {3}VERSION {2}WANTED {2}MESSAGE$/),
    'web     ready    1.3.0',
    expect.stringMatching(/^db {6}failing {2}1\.3\.0 {12}boom \\u001b\[2Jx+…$/),
    '',
  ]);
  expect(tableText(table, 'wide')).toContain(
    `boom \\u001b[2J${'x'.repeat(170)}  08:00     yes      config-map  webEnabled`,
  );
  expect(tableText(table, 'name')).toBe('web\ndb\n');
  expect(tableText(modulesTable(true)(MODULES), 'table')).toContain(
    'off     disabled  1.3.0            offEnabled is false',
  );
});

test('a module that is ready shows what keeps it from following changes', () => {
  const held = {
    ...WEB,
    lastError: null,
    nextTryAt: null,
    paused: null,
    heldUpBy: 'hook a.sh has been running',
  };
  expect(tableText(modulesTable(false)({ modules: [held] }), 'table')).toContain(
    'web     ready   1.3.0            hook a.sh has been running',
  );
});

test('tasks are rows below their queue, and idle queues for parallel modules are left out', () => {
  const task = { index: 1, description: 'ModuleRun:main:web' };
  const active = [{ name: 'main', status: 'sleep', tasks: [task, { ...task, index: 2 }] }];
  const empty = [{ name: 'own' }, { name: 'parallel_queue_0' }];
  expect(tableText(queuesTable({ active, empty }), 'table').split('\n')).toEqual([
    'QUEUE  #  TASK                STATUS',
    'main   1  ModuleRun:main:web  sleep',
    'main   2  ModuleRun:main:web',
    'own    -                      idle',
    '',
  ]);
  expect(tableText(queuesTable(active[0]), 'name')).toBe('main\n');
});

test('parameters, hooks and documents are tables', () => {
  const parameter = { name: 'log.level', value: 'info', default: 'info', description: 'Level' };
  expect(tableText(parametersTable([parameter]), 'wide')).toContain(
    'log.level  info              info     Level',
  );
  expect(tableText(globalHooksTable({ globalHooks: ['a.sh'] }), 'table')).toBe('HOOK\na.sh\n');
  expect(tableText(documentTable({ a: { b: [1, 'x'], c: {} }, d: null }), 'table')).toBe(
    'KEY    VALUE\na.b.0  1\na.b.1  x\na.c    {}\nd      null\n',
  );
  expect(tableText(documentTable({ a: 1, b: 2 }), 'name')).toBe('a\nb\n');
  expect(tableText(documentTable({}), 'table')).toBe('KEY  VALUE\n');
});

test('data of another shape is an empty table', () => {
  for (const table of [modulesTable(true), parametersTable, globalHooksTable, documentTable])
    expect(tableText(table(null), 'name')).toBe('');
});

test('a history shows what the revisions were deployed from', () => {
  const revisions = [
    { revision: 2, version: '1.1.0', files: null, deployedAt: null, outcome: 'failed', reason: 'no quota' },
    {
      revision: 1,
      version: '1.0.0',
      files: '0123456789abcdef',
      deployedAt: '2026-01-01T00:00:00Z',
      outcome: 'running',
      reason: '',
    },
  ];
  const table = historyTable({ revisions, versions: [] });
  expect(
    tableText(table, 'table')
      .split('\n')
      .map((line) => line.trimEnd()),
  ).toEqual([
    'REVISION  VERSION  DIGEST        DEPLOYED              STATUS   REASON',
    '2         1.1.0                                        failed   no quota',
    '1         1.0.0    0123456789ab  2026-01-01T00:00:00Z  running',
    '',
  ]);
  expect(table.names).toEqual(['2', '1']);
});

test('a history shows the versions that a source delivered in place of revisions', () => {
  const at = '2026-01-01T00:00:00Z';
  const versions = [
    { version: '1.1.0', digest: 'sha256:abcdef', revision: 2, at, outcome: 'replaced', reason: 'gate' },
  ];
  const { rows, names } = historyTable({ revisions: [{ revision: 1 }], versions });
  expect(rows).toEqual([['2', '1.1.0', 'abcdef', at, 'replaced', 'gate']]);
  expect(names).toEqual(['1.1.0']);
});
