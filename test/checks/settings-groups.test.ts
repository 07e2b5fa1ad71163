import { expect, test } from 'vitest';
import { sourcesIn } from './checkout.ts';
import { settingsProblems } from './settings-groups.ts';

test('rooms below app take the groups of settings that they use', () => {
  expect(settingsProblems(sourcesIn('src'))).toEqual([]);
});

test.each([
  { what: 'a type import', file: 'queues/a.ts', source: "import type { Settings } from '../settings.ts';" },
  {
    what: 'a type beside a value',
    file: 'server/api/a.ts',
    source: "import { SETTINGS, type Settings } from '../../settings.ts';",
  },
  { what: 'a namespace', file: 'model/a.ts', source: "import type * as all from '../settings.ts';" },
  { what: 'a type of an import', file: 'model/a.ts', source: "type A = import('../settings.ts').Settings;" },
])('a planted room with all settings is reported: $what', ({ file, source }) => {
  expect(settingsProblems(new Map([[file, source]]))).toEqual([
    `src/${file} imports all settings: take the types of groups in src/settings/`,
  ]);
});

test('a planted selection of more than three settings is reported, of three it is not', () => {
  const pick = (names: string): string =>
    `export const a = (settings: Pick<Settings, ${names}>) => settings;`;
  expect(settingsProblems(new Map([['app/a.ts', pick("\n  'jq' | 'ui' | 'uiPort' | 'hookEnv'\n")]]))).toEqual(
    ['src/app/a.ts picks 4 of all settings: take the types of groups in src/settings/'],
  );
  expect(settingsProblems(new Map([['app/a.ts', pick("'jq' | 'ui' | 'uiPort'")]]))).toEqual([]);
});

test('rooms that start an operator may take all settings', () => {
  const source = "import type { Settings } from '../settings.ts';";
  const allowed = ['cli', 'devkit', 'app', 'plan', 'settings'].map(
    (room) => [`${room}/a.ts`, source] as const,
  );
  expect(settingsProblems(new Map(allowed))).toEqual([]);
});
