import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonHost } from '../../test/support/daemon-host.ts';
import { prepareTemporaryDirectory } from './temporary-directory.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'temporary-directory-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

test('prepareTemporaryDirectory() makes the directory, one level of it', () => {
  const { log } = daemonHost();
  expect(prepareTemporaryDirectory(join(root, 'tmp', '..', 'tmp'), log)).toBe(join(root, 'tmp'));
  expect(existsSync(join(root, 'tmp'))).toBe(true);
  expect(() => prepareTemporaryDirectory(join(root, 'a', 'b'), log)).toThrow(/a\/b: ENOENT.*set --tmp-dir/);
});

test('prepareTemporaryDirectory() removes what a dead daemon left there', () => {
  const { log, captured } = daemonHost();
  mkdirSync(join(root, `run-${2 ** 22 + 1}-hook-1`));
  mkdirSync(join(root, 'else'));
  prepareTemporaryDirectory(root, log);
  expect(captured.records).toMatchObject([{ level: 'info', removed: 1 }]);
  expect(existsSync(join(root, 'else'))).toBe(true);
});

test('prepareTemporaryDirectory() refuses a file in the place of the directory', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => prepareTemporaryDirectory(join(root, 'file'), daemonHost().log)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  );
});

test('prepareTemporaryDirectory() creates a directory that only our user can enter, with any umask', () => {
  const umask = process.umask(0);
  try {
    const path = prepareTemporaryDirectory(join(root, 'tmp'), daemonHost().log);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  } finally {
    process.umask(umask);
  }
});

test.each([
  ['other users can write to it', 0o777],
  ['other users can write to it', 0o775],
  ['other users can write to it', 0o1777],
])('prepareTemporaryDirectory() refuses a directory when %s: mode %o', (why, mode) => {
  const path = join(root, 'tmp');
  mkdirSync(path);
  chmodSync(path, mode);
  expect(() => prepareTemporaryDirectory(path, daemonHost().log)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(why) }),
  );
});

test('prepareTemporaryDirectory() refuses a link to a directory', () => {
  mkdirSync(join(root, 'target'), { mode: 0o700 });
  symlinkSync('target', join(root, 'tmp'));
  expect(() => prepareTemporaryDirectory(join(root, 'tmp'), daemonHost().log)).toThrow(
    'it is not a directory',
  );
});

test.runIf(process.getuid?.() === 0)(
  'prepareTemporaryDirectory() refuses a directory that belongs to another user',
  () => {
    const path = join(root, 'tmp');
    mkdirSync(path, { mode: 0o700 });
    lchownSync(path, 12_345, 12_345);
    expect(() => prepareTemporaryDirectory(path, daemonHost().log)).toThrow('it belongs to another user');
  },
);

test('prepareTemporaryDirectory() logs it, when others could replace the directory', () => {
  const { log, captured } = daemonHost();
  chmodSync(root, 0o777);
  prepareTemporaryDirectory(join(root, 'tmp'), log);
  expect(captured.records).toMatchObject([{ level: 'info', risk: expect.stringContaining(root) }]);
});
