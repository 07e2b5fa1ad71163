import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Recording } from './recording.ts';
import { findRecordings, writeRecording } from './recording-files.ts';

const RECORDING = {
  version: 1,
  at: '2026-05-01T10:00:00.000Z',
  hook: 'hooks/../a b.sh',
  module: 'web',
} as Recording;

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'recordings-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('a recording is a private file with a plain name, in a private directory', async () => {
  const below = join(await directory(), 'new');
  const path = await writeRecording(below, RECORDING, 7);
  expect(path).toBe(join(below, '20260501T100000000Z-0007-web-hooks-..-a-b.sh.json'));
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(RECORDING);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(below)).mode & 0o777).toBe(0o700);
  expect(await findRecordings(below)).toEqual([path]);
  expect(await findRecordings(path)).toEqual([path]);
});

test('of a recording that cannot be written nothing is left', async () => {
  const file = join(await directory(), 'file');
  await writeFile(file, '');
  await expect(writeRecording(join(file, 'below'), RECORDING, 1)).rejects.toThrow(
    'cannot write the recording',
  );
  const below = join(await directory(), 'new');
  await expect(writeRecording(below, { ...RECORDING, values: { a: 1n } }, 1)).rejects.toThrow('BigInt');
  expect(await readdir(below)).toEqual([]);
});

test('without recordings a directory is refused', async () => {
  const empty = await directory();
  await expect(findRecordings(empty)).rejects.toThrow(`no recordings in ${empty}`);
  await expect(findRecordings(join(empty, 'gone'))).rejects.toThrow('cannot read');
});
