import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
