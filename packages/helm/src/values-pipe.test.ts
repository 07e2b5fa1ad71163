import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeToReader } from './prepared-helm.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'values-pipe-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function pipe(name: string): string {
  const path = join(directory, name);
  execFileSync('mkfifo', [path]);
  return path;
}

test('writeToReader() waits for a reader and gives it everything, also more than a pipe holds', async () => {
  const path = pipe('large');
  const text = 'x'.repeat(1_000_000);
  const writing = writeToReader(path, text, systemClock, new AbortController().signal);
  expect(await readFile(path, 'utf8')).toBe(text);
  await writing;
});

test('writeToReader() ends when its signal aborts before there is a reader', async () => {
  const stopping = new AbortController();
  const writing = writeToReader(pipe('unread'), 'text', systemClock, stopping.signal);
  stopping.abort(new Error('the reader has ended'));
  await expect(writing).rejects.toThrow('the reader has ended');
});
