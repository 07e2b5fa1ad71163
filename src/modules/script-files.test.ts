import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { readScriptOutput, ScriptFiles, type ScriptPaths } from './script-files.ts';

const WEB = 'web' as ModuleName;
const DB = 'db' as ModuleName;
const LONG = { values: { web: 'a long value' }, configValues: { web: 'longer than the next' } };
const SHORT = { values: { db: 1 }, configValues: { db: null } };

let tmpDir = '';

beforeEach(() => {
  tmpDir = mkdtempSync(join(tmpdir(), 'script-files-'));
});

afterEach(() => rmSync(tmpDir, { recursive: true }));

/** The files that the script of `db` finds after that of `web` has changed its own. */
async function handOn(act: (paths: ScriptPaths) => void) {
  const files = new ScriptFiles(tmpDir, false);
  const before = files.hand(WEB, LONG);
  const oldInode = statSync(before.values).ino;
  act(before);
  await files.takeBack();
  const paths = files.hand(DB, SHORT);
  const all = Object.values(paths);
  const found = {
    names: all.map((path) => basename(path)),
    texts: all.map((path) => readFileSync(path, 'utf8')),
    modes: all.map((path) => statSync(path).mode & 0o777),
    directory: statSync(dirname(paths.values)).mode & 0o777,
  };
  const isSameFile = statSync(paths.values).ino === oldInode;
  await files.takeBack();
  await files.remove();
  return { found, isSameFile };
}

const AS_NEW = {
  names: [
    'db.module-values.json',
    'db.module-config-values.json',
    'db.module-enabled-result',
    'db.module-enabled-reason',
  ],
  texts: ['{"db":1}', '{"db":null}', '', ''],
  modes: [0o600, 0o600, 0o600, 0o600],
  directory: 0o700,
};

test('hand() gives the next script the same files with its own values, and empty outputs', async () => {
  const { found, isSameFile } = await handOn(({ result, reason }) => {
    writeFileSync(result, 'false');
    writeFileSync(reason, 'too small');
  });
  expect(found).toEqual(AS_NEW);
  expect(isSameFile).toBe(true);
  expect(readdirSync(tmpDir)).toEqual([]);
});

test.each<readonly [what: string, act: (paths: ScriptPaths) => void]>([
  ['removed its files', (paths) => Object.values(paths).forEach((path) => rmSync(path))],
  ['removed its directory', ({ values }) => rmSync(dirname(values), { recursive: true })],
  ['left a file beside its own', ({ values }) => writeFileSync(join(dirname(values), 'more'), '')],
  [
    'left directories in the place of its outputs',
    ({ result, reason }) => {
      for (const path of [result, reason]) {
        rmSync(path);
        mkdirSync(path);
      }
    },
  ],
  ['made its values readable for all', ({ values }) => chmodSync(values, 0o644)],
  [
    'put other files in the place of its own',
    (paths) => {
      for (const path of Object.values(paths)) {
        renameSync(path, join(tmpDir, basename(path)));
        writeFileSync(path, 'another file', { mode: 0o644 });
      }
    },
  ],
  [
    'put a link in the place of its directory',
    ({ values }) => {
      renameSync(dirname(values), join(tmpDir, 'moved'));
      symlinkSync(join(tmpDir, 'moved'), dirname(values));
    },
  ],
])('hand() gives the next script sound files after one that %s', async (_what, act) => {
  expect((await handOn(act)).found).toEqual(AS_NEW);
  expect(readdirSync(tmpDir).filter((name) => name.startsWith('run-'))).toEqual([]);
});

test('hand() does not write into a file that a script has kept for itself', async () => {
  const { found } = await handOn(({ values, reason }) => {
    linkSync(values, join(tmpDir, 'values'));
    linkSync(reason, join(tmpDir, 'reason'));
  });
  expect(found).toEqual(AS_NEW);
  expect(readFileSync(join(tmpDir, 'values'), 'utf8')).toBe('{"web":"a long value"}');
});

test('hand() gives the next script an output that was written, empty, under its own name', async () => {
  const files = new ScriptFiles(tmpDir, false);
  const inodes: number[] = [];
  for (let index = 0; index < 40; index += 1) {
    const { result, reason } = files.hand(`m${index}` as ModuleName, SHORT);
    expect([basename(result), readFileSync(result, 'utf8'), readFileSync(reason, 'utf8')]).toEqual([
      `m${index}.module-enabled-result`,
      '',
      '',
    ]);
    inodes.push(statSync(result).ino);
    writeFileSync(result, 'false');
    writeFileSync(reason, `reason ${index}`);
    await files.takeBack();
  }
  expect(new Set(inodes).size).toBe(1);
  await files.remove();
  expect(readdirSync(tmpDir)).toEqual([]);
});

test('hand() creates an output anew while the written one is still being emptied', async () => {
  const files = new ScriptFiles(tmpDir, false);
  const first = files.hand(WEB, LONG);
  writeFileSync(first.result, 'true');
  const emptied = files.takeBack();
  const second = files.hand(DB, SHORT);
  expect(readFileSync(second.result, 'utf8')).toBe('');
  writeFileSync(second.result, 'false');
  await emptied;
  expect(readFileSync(second.result, 'utf8')).toBe('false');
  await files.remove();
});

test('hand() creates an output anew where the emptied one was written by another process', async () => {
  const files = new ScriptFiles(tmpDir, false);
  const first = files.hand(WEB, LONG);
  writeFileSync(first.result, 'true');
  await files.takeBack();
  writeFileSync(first.result, 'late');
  expect(readFileSync(files.hand(DB, SHORT).result, 'utf8')).toBe('');
});

test('hand() leaves the files of each script when they are to be kept', async () => {
  const files = new ScriptFiles(tmpDir, true);
  const first = files.hand(WEB, LONG);
  await files.takeBack();
  const second = files.hand(DB, SHORT);
  await files.takeBack();
  await files.remove();
  expect(readFileSync(first.values, 'utf8')).toBe('{"web":"a long value"}');
  expect(readFileSync(second.values, 'utf8')).toBe('{"db":1}');
});

test('hand() leaves nothing behind when files cannot be made', async () => {
  const files = new ScriptFiles(tmpDir, false);
  files.hand(WEB, LONG);
  await files.takeBack();
  expect(() => files.hand('a'.repeat(300) as ModuleName, SHORT)).toThrow('ENAMETOOLONG');
  await files.takeBack();
  await files.remove();
  expect(readdirSync(tmpDir)).toEqual([]);
});

test('readResponse() reads what is there, trimmed, and nothing from a file that is gone', async () => {
  const path = join(tmpDir, 'answer');
  writeFileSync(path, ' true\n');
  expect(readScriptOutput(path)).toBe('true');
  expect(readScriptOutput(join(tmpDir, 'none'))).toBe('');
});
