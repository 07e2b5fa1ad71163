import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeLeftovers, withRunDirectory } from './run-directory.ts';

let workDir = '';
beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), 'run-directory-'));
});
afterEach(async () => await rm(workDir, { recursive: true, force: true }));

test('withRunDirectory() gives a private directory, and removes it after a failure too', async () => {
  const failing = withRunDirectory(workDir, async (directory) => {
    await writeFile(join(directory, 'values.yaml'), 'secret');
    throw new Error(`mode ${((await stat(directory)).mode & 0o777).toString(8)}`);
  });
  await expect(failing).rejects.toThrow('mode 700');
  expect(await readdir(workDir)).toEqual([]);
});

test('removeLeftovers() removes directories of killed runs alone', async () => {
  await mkdtemp(join(workDir, 'run-'));
  await writeFile(join(workDir, 'post-renderer.sh'), '');
  await removeLeftovers(workDir);
  expect(await readdir(workDir)).toEqual(['post-renderer.sh']);
});

test('withRunDirectory() says which directory cannot be written to, and what to do', async () => {
  const file = join(workDir, 'file');
  await writeFile(file, '');
  await expect(withRunDirectory(file, async () => undefined)).rejects.toMatchObject({
    code: 'HELM_FAILED',
    message: expect.stringContaining(`Check free space and permissions of "${file}" (--tmp-dir)`),
  });
  const inside = withRunDirectory(workDir, (directory) => writeFile(join(directory, 'gone', 'x'), ''));
  await expect(inside).rejects.toMatchObject({ code: 'HELM_FAILED' });
});
