import { expect, test } from 'vitest';
import { namesTwice } from './exported-names.ts';
import { sourcesOfProject } from './project-imports.ts';

const sources = sourcesOfProject();

test('each name that files export means one thing', () => {
  expect(namesTwice(sources)).toEqual([]);
});

test.each([
  ['a type', 'export type HookScope = 1;', 'HookScope'],
  ['an interface', 'export interface HookScope {}', 'HookScope'],
  ['a class', 'export abstract class HookScope {}', 'HookScope'],
  ['a function', 'export async function parseCrontab() {}', 'parseCrontab'],
  ['a constant', 'export const BINDING_KINDS = 1;', 'BINDING_KINDS'],
  ['a name that a package apart offers', 'export const JqError = 1;', 'JqError'],
])('%s that another file exports too is found', (_what, source, name) => {
  const planted = new Map([...sources, ['views/planted.ts', source]]);
  expect(namesTwice(planted)).toEqual([
    expect.stringMatching(`^${name} is exported by .* and views/planted\\.ts$`),
  ]);
});

test.each([
  ['a re-export', "export { parseCrontab } from '@addon-operator/crontab';"],
  ['a name within a package apart', 'export const codeOf = 1;', '../packages/jq/src/planted.ts'],
])('%s is not', (_what, source, file = 'views/planted.ts') => {
  expect(namesTwice(new Map([...sources, [file, source]]))).toEqual([]);
});
