import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDirectory } from '@addon-operator/kube-sandbox';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareStateDirectory, writeKubeconfig } from './sandbox-files.ts';
import { sandboxFiles } from './sandbox-paths.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'state-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('sandboxFiles() puts the socket elsewhere when its path would be too long', () => {
  expect(sandboxFiles('/short', '/tmp').debugSocket).toBe('/short/debug.socket');
  const long = sandboxFiles(`/${'ä'.repeat(50)}`, '/tmp').debugSocket;
  expect(long).toMatch(/^\/tmp\/addon-operator-[0-9a-f]{12}\/debug\.socket$/);
  expect(sandboxFiles(`/${'ä'.repeat(51)}`, '/tmp').debugSocket).not.toBe(long);
});

test('prepareStateDirectory() makes it for our user only, and keeps what is there', async () => {
  const files = sandboxFiles(join(directory, 'deep/state'), tmpdir());
  await prepareStateDirectory(files, false);
  expect(statSync(files.stateDir).mode & 0o777).toBe(0o700);
  writeFileSync(join(files.apiDir, 'journal'), 'x');
  await prepareStateDirectory(files, false);
  expect(readdirSync(files.apiDir)).toEqual(['journal']);
});

test('a reset removes what sandboxes keep, and nothing else', async () => {
  const files = sandboxFiles(directory, tmpdir());
  await prepareStateDirectory(files, false);
  writeFileSync(join(files.apiDir, 'journal'), 'x');
  writeKubeconfig(files.kubeconfig, 'x');
  writeFileSync(join(directory, 'notes'), 'x');
  await prepareStateDirectory(files, true);
  expect(readdirSync(directory).toSorted()).toEqual(['api', 'notes']);
  expect(readdirSync(files.apiDir)).toEqual([]);
});

test('a reset leaves the state of a sandbox that runs alone', async () => {
  const files = sandboxFiles(directory, tmpdir());
  await prepareStateDirectory(files, false);
  writeFileSync(join(files.apiDir, 'journal'), 'x');
  const lock = await lockDirectory(files.apiDir);
  await expect(prepareStateDirectory(files, true)).rejects.toMatchObject({ code: 'INTERNAL' });
  await lock.release();
  expect(existsSync(join(files.apiDir, 'journal'))).toBe(true);
});

test('prepareStateDirectory() names a directory that cannot be made', async () => {
  writeFileSync(join(directory, 'file'), '');
  const files = sandboxFiles(join(directory, 'file/state'), tmpdir());
  await expect(prepareStateDirectory(files, false)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining(`--state-dir: cannot create the directory ${directory}/file/state`),
  });
});

test('writeKubeconfig() replaces the file at once and keeps it private', () => {
  const path = join(directory, 'kubeconfig');
  writeKubeconfig(path, 'old');
  writeKubeconfig(path, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['kubeconfig']);
});
