import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDirectory } from './directory-lock.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

test('a directory is claimed once, until it is released', async () => {
  const lock = await lockDirectory(directory);
  await expect(lockDirectory(join(directory, '.'))).rejects.toThrow('another sandbox has it open');
  await lock.release();
  await (await lockDirectory(directory)).release();
});

test('two directories are claimed side by side, and made where they are missing', async () => {
  const locks = [await lockDirectory(directory), await lockDirectory(join(directory, 'a', 'b'))];
  expect(new Set(locks.map(({ path }) => path)).size).toBe(2);
  await Promise.all(locks.map((lock) => lock.release()));
});

test('where sockets are files, one that was left behind does not count', async () => {
  const lock = await lockDirectory(directory, 'darwin');
  await expect(lockDirectory(directory, 'darwin')).rejects.toThrow('another sandbox has it open');
  await lock.release();
  await writeFile(lock.path, '');
  const again = await lockDirectory(directory, 'darwin');
  expect(again.path).toBe(lock.path);
  await again.release();
});
