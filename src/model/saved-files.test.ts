import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { effectsOfSaving, type ReloadFacts, savedFile } from './saved-files.ts';

const FACTS: ReloadFacts = {
  hooks: new Map([
    ['/modules/web/hooks/a.sh', 'hook web/hooks/a.sh runs again now (onStartup)'],
    ['/global/g.sh', 'global hook g.sh is gone: its bindings have ended'],
  ]),
  modules: [
    { name: 'web', path: '/modules/web', reload: 'same' },
    { name: 'moved', path: '/modules/020-moved', reload: 'same' },
    { name: 'gone', path: '/modules/gone', reload: 'gone' },
    { name: 'moved', path: '/modules/010-moved', reload: 'same' },
    { name: 'linked', path: '/elsewhere/linked', reload: 'restarted' },
    { name: 'new', path: '/modules/new', reload: 'new' },
    { name: 'broken', path: '/modules/broken', reload: 'not-loaded' },
    { name: 'refused', path: '/modules/refused', reload: 'refused' },
  ],
  modulesDirs: ['/modules'],
};

const effects = (path: string, real = path): readonly string[] =>
  effectsOfSaving([{ path, real }], FACTS).map(({ effect }) => effect);

test.each([
  ['a hook', '/modules/web/hooks/a.sh', 'hook web/hooks/a.sh runs again now (onStartup)'],
  ['a hook that is removed', '/global/g.sh', 'global hook g.sh is gone: its bindings have ended'],
  ['another file of a module', '/modules/web/templates/x.yaml', 'module web runs again with it'],
  ['the directory of a module', '/modules/new', 'module new is new and runs if it is enabled'],
  ['the old place of a renamed module', '/modules/010-moved/a', 'module moved runs again with it'],
  [
    'a removed module',
    '/modules/gone/Chart.yaml',
    'module gone is gone: what it runs ends, and its release is removed',
  ],
  [
    'a module that cannot be loaded',
    '/modules/broken/values.yaml',
    'module broken stays as it was until its files can be loaded',
  ],
  [
    'a module that is not authorized, or held',
    '/modules/refused/values.yaml',
    'module refused does not run with these files; `addon-operator status` says why',
  ],
  ['values of all modules', '/modules/values.yaml', 'all modules run again with it'],
  ['a library of global hooks', '/global/lib/common.sh', 'hooks use it at their next run'],
])('saving %s has its effect', (_what, path, effect) => {
  expect(effects(path)).toEqual([effect]);
});

test('a file below a symbolic link counts for the module that it leads to', () => {
  expect(effects('/modules/linked/hooks/a.sh', '/elsewhere/linked/hooks/a.sh')).toEqual([
    'module linked starts anew with all its hooks',
  ]);
});

test('a module whose name begins with that of another one is not confused with it', () => {
  expect(effects('/modules/web-2/values.yaml')).toEqual(['all modules run again with it']);
});

test('files with the same effect are together, without their directories and files of editors', () => {
  const saved = ['', 'a.yaml', 'b.yaml', 'a.yaml~', '4913'].map((name) => savedFile(`/modules/web/${name}`));
  expect(effectsOfSaving(saved, FACTS)).toEqual([
    { effect: 'module web runs again with it', files: ['a.yaml', 'b.yaml'] },
  ]);
});

test('a path leads to the file behind symbolic links, also when it is removed', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'saved-files-')));
  try {
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real', 'a'), '');
    symlinkSync('real', join(root, 'link'));
    for (const name of ['a', 'removed'])
      expect(savedFile(join(root, 'link', name))).toEqual({
        path: join(root, 'link', name),
        real: join(root, 'real', name),
      });
  } finally {
    rmSync(root, { recursive: true });
  }
});
