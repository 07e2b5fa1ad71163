import { expect, test } from 'vitest';
import type { ModuleResponse } from '../lib/responses.ts';
import { isProblem, listRows, nextOfModules, reasonOf } from './module-rows.ts';

const SINCE = '2026-01-01T00:00:00.000Z';

function module(name: string, fields: Partial<ModuleResponse> = {}): ModuleResponse {
  return { module: name, status: 'ready', since: SINCE, reason: '', ...fields };
}

const behind = { status: 'starting', heldUpRef: 'queue/main', heldUpBy: 'velero fails' } as const;
const MODULES = [
  module('a'),
  module('velero', { status: 'failing', lastError: 'no bucket' }),
  module('b', behind),
  module('c', behind),
  module('d', behind),
  module('off', { status: 'disabled' }),
  module('lacking', { status: 'disabled', source: 'requirement' }),
];
const ALL = { status: '', text: '', order: '', open: new Set<string>() };

function shown(options: Partial<typeof ALL>): string {
  return listRows(MODULES, { ...ALL, ...options })
    .map((row) => (row.type === 'group' ? `${row.count}×${row.cause}` : row.module.module))
    .join(' ');
}

test.each([
  [
    'problems come first, and modules that wait for the same are one row',
    {},
    'velero lacking 3×queue/main a off',
  ],
  [
    'an open group is followed by its modules',
    { open: new Set(['queue/main']) },
    'velero lacking 3×queue/main b c d a off',
  ],
  ['in run order nothing is moved', { order: 'run' }, 'a velero 3×queue/main off lacking'],
  ['a state shows each of its modules', { status: 'starting' }, 'b c d'],
  ['problems are those that need a person', { status: 'problems' }, 'velero lacking'],
  ['a text is found in names and sentences', { text: 'bucket' }, 'velero'],
  ['and finds each module of a group', { text: 'velero' }, 'velero b c d'],
])('%s', (_name, options, expected) => {
  expect(shown(options)).toBe(expected);
});

test('two that wait for the same are two rows', () => {
  const rows = listRows(MODULES.slice(0, 4), ALL);
  expect(rows.map(({ type }) => type)).toEqual(['module', 'module', 'module', 'module']);
});

test('a module that flags disable is no problem', () => {
  expect(isProblem(module('x', { status: 'disabled', source: 'config-map' }))).toBe(false);
});

test.each([
  ['Cannot deploy release "web": run helm upgrade: no bucket', 'no bucket'],
  ["run hooks by binding beforeHelm: module hook 'hooks/a.sh' failed: no disk", 'hooks/a.sh: no disk'],
  ['no route to host', 'no route to host'],
])('the reason of %s begins with what the row does not say', (lastError, reason) => {
  expect(reasonOf(module('web', { status: 'failing', lastError }))).toBe(reason);
});

test('the next time of a module is the first of its items', () => {
  const item = (name: string, at: string) =>
    ({ at, kind: 'schedule', text: '', module: name, hook: '', crontab: '' }) as const;
  expect([...nextOfModules([item('web', '1'), item('', '2'), item('web', '3')])]).toEqual([['web', '1']]);
});
