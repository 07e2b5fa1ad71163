import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { FoundModules } from '../modules/find-modules.ts';
import type { Module } from '../modules/module.ts';
import type { ModuleName } from '../values/module-key.ts';
import { type HeldModulesFacts, withHeld } from './held-modules.ts';

const CURRENT = '/store/current';
const AWAY = { entry: '030-web', reason: 'the registry is away', sinceMs: 0 };

function found(modules: readonly Module[]): FoundModules {
  return {
    modules,
    commonFlags: new Map(),
    commonFlagFiles: new Map(),
    lostDirs: new Map(),
    directories: [{ path: CURRENT, modules: modules.map(({ name }) => name) }],
    staticValues: { global: {}, modules: new Map() },
  };
}

function facts(given: Partial<HeldModulesFacts>): HeldModulesFacts {
  return {
    before: [],
    values: { global: {}, modules: new Map() },
    enabled: [],
    removed: new Set(),
    unavailable: new Map([['web', AWAY]]),
    currentDir: CURRENT,
    settings: { moduleStore: '/store', modulesDirs: [], watchesFiles: false, allowsEmptyModulesDir: false },
    ...given,
  };
}

const stored = (name: string, fields: Partial<Module> = {}): Module =>
  moduleFor(name, 30, { path: `/store/content/${name}`, link: `${CURRENT}/030-${name}`, ...fields });
const DAMAGED = { type: 'gone', lost: 'directory', reason: 'it is empty', remedy: 'fill it' } as const;
const HELD = { type: 'gone', lost: 'content', reason: 'since 1970-01-01T00:00:00.000Z the registry is away' };

test.each<readonly [string, readonly Module[], readonly Module[], object]>([
  ['nothing is known of it', [], [], { order: 30, chart: 'none', path: `${CURRENT}/030-web` }],
  ['it ran before', [], [stored('web')], { chart: stored('web').chart, link: `${CURRENT}/030-web` }],
  ['its link leads to nothing', [stored('web', { refusal: DAMAGED })], [], { order: 30 }],
])('modules of sources whose content is nowhere exist and are held: %s', (_what, read, before, fields) => {
  const { modules, directories } = withHeld(found(read), facts({ before }));
  expect(modules).toMatchObject([{ name: 'web', refusal: HELD, ...fields }]);
  expect(directories).toEqual([{ path: CURRENT, modules: ['web'] }]);
});

test('a module of another directory, and one whose files are whole, run although content is missing', () => {
  const elsewhere = stored('web', { link: '/modules/030-web', refusal: DAMAGED });
  for (const module of [elsewhere, stored('web')])
    expect(withHeld(found([module]), facts({})).modules).toEqual([module]);
});

test('a removed module is deleted with its hooks; one of which nothing was read is none any more', () => {
  const removed = new Set(['web', 'db']);
  const before = [stored('web', { entries: ['values.yaml'], refusal: DAMAGED }), stored('db')];
  const { modules } = withHeld(found([]), facts({ before, removed, unavailable: new Map() }));
  expect(modules).toMatchObject([{ name: 'web', isRemoved: true }]);
  expect(modules[0]).not.toHaveProperty('refusal');
});

test('the note of the store about a module concerns only its own modules', () => {
  const before = [stored('web', { link: '/modules/030-web' })];
  const given = facts({
    before,
    enabled: ['web' as ModuleName],
    removed: new Set(['web']),
    unavailable: new Map(),
  });
  expect(withHeld(found([]), given).modules).toMatchObject([{ name: 'web', refusal: { type: 'gone' } }]);
});

test('modules of the store that ran before are held at a start without their links, unless they were removed', () => {
  const entries = new Map([
    ['web', '030-web'],
    ['db', '050-db'],
    ['removed', '060-removed'],
  ]);
  const given = facts({ stored: entries, removed: new Set(['removed']), unavailable: new Map() });
  const { modules } = withHeld(found([stored('web')]), given);
  const refusal = { type: 'gone', lost: 'directory', reason: `its link ${CURRENT}/050-db is gone` };
  expect(modules).toMatchObject([{ name: 'web' }, { name: 'db', order: 50, refusal }]);
});

test('a link of the store that is lost while files are watched is no decision', () => {
  const given = facts({
    before: [stored('web')],
    enabled: ['web' as ModuleName],
    unavailable: new Map(),
    settings: { moduleStore: '/store', modulesDirs: [], watchesFiles: true, allowsEmptyModulesDir: false },
  });
  const remedy = expect.stringContaining('addon-operator module store remove web');
  expect(withHeld(found([]), given).modules).toMatchObject([
    { name: 'web', refusal: { type: 'gone', remedy } },
  ]);
});
