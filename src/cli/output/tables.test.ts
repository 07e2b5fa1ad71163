import { expect, test } from 'vitest';
import {
  documentTable,
  globalHooksTable,
  historyTable,
  modulesTable,
  parametersTable,
  tableText,
} from './tables.ts';

const NOW = Date.parse('2026-01-10T00:10:00Z');
const WEB = {
  module: 'web',
  status: 'ready',
  since: '2026-01-07T00:00:00Z',
  isEnabled: true,
  source: 'config-map',
  reason: 'webEnabled',
  waitsFor: [],
  version: '1.3.0',
  revision: 4,
  lastError: null,
  nextTryAt: null,
  paused: null,
};
const MODULES = {
  modules: [
    WEB,
    {
      ...WEB,
      module: 'db',
      status: 'failing',
      since: '2026-01-10T00:05:00Z',
      revision: null,
      lastError: `boom\n\u001b[2J${'x'.repeat(170)}`,
      nextTryAt: '2026-01-10T00:10:12Z',
    },
    { ...WEB, module: 'off', status: 'disabled', isEnabled: false, reason: 'offEnabled is false' },
    {
      ...WEB,
      module: 'next',
      status: 'starting',
      waitsFor: ['ModuleRun db in front of it in queue main; it failed once: boom'],
      heldUpBy: 'ModuleRun db at the head of queue main fails: boom',
      heldUpRef: 'queue/main',
    },
    { ...WEB, module: 'held', status: 'held-up', heldUpBy: 'hook a.sh has been running' },
  ],
};

test('modules are rows with since when, what is next and what is in their way, cut only in the narrow form', () => {
  const table = modulesTable(false)(MODULES, NOW);
  expect(tableText(table, 'table').split('\n')).toEqual([
    expect.stringMatching(/^NAME  READY  STATUS    VERSION  REVISION  SINCE  NEXT  MESSAGE$/),
    'web   yes    ready     1.3.0    4         3d',
    expect.stringMatching(/^db    no     failing   1\.3\.0 {14}5m     12s   boom \\u001b\[2Jx+…$/),
    'off   -      disabled  1.3.0    4         3d           offEnabled is false',
    'next  no     starting  1.3.0    4         3d           ModuleRun db in front of it in queue main',
    'held  yes    held-up   1.3.0    4         3d           hook a.sh has been running',
    '',
  ]);
  expect(tableText(table, 'wide')).toContain(
    `boom \\u001b[2J${'x'.repeat(170)}          yes      config-map  webEnabled`,
  );
  expect(tableText(table, 'name')).toBe('web\ndb\nnext\nheld\n');
  expect(tableText(modulesTable(true)(MODULES), 'name')).toBe('web\ndb\noff\nnext\nheld\n');
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
