import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeNewFiles } from './files.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'new-files-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('writeNewFiles() makes directories, and makes programs executable', () => {
  const [program, plain] = [join(root, 'hooks/a.sh'), join(root, 'values.yaml')];
  writeNewFiles([
    { path: program, text: '#!/bin/sh\n', isExecutable: true },
    { path: plain, text: 'a: 1\n' },
  ]);
  expect(readFileSync(program, 'utf8')).toBe('#!/bin/sh\n');
  expect([program, plain].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['755', '644']);
});

test('writeNewFiles() writes nothing if one of the files exists', () => {
  const [fresh, existing] = [join(root, 'a'), join(root, 'b')];
  writeFileSync(existing, 'before');
  const files = [fresh, existing].map((path) => ({ path, text: 'after' }));
  expect(() => writeNewFiles(files)).toThrow(`nothing is written, because these files exist: ${existing}`);
  expect([existsSync(fresh), readFileSync(existing, 'utf8')]).toEqual([false, 'before']);
});

test('writeNewFiles() removes what it has written if a file cannot be written', () => {
  const fresh = join(root, 'a');
  writeFileSync(join(root, 'file'), '');
  const files = [fresh, join(root, 'file/below')].map((path) => ({ path, text: '' }));
  expect(() => writeNewFiles(files)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('nothing is written: '),
    }),
  );
  expect(existsSync(fresh)).toBe(false);
});
