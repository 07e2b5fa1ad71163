import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import type { Recording } from './recording.ts';
import { findRecordings, writeFailure, writeRecording } from './recording-files.ts';

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

/** Records runs, of which the last one is larger than files may be, and prints what came of it. */
const WITH_SMALL_FILES = `
const { readdir, readFile } = await import('node:fs/promises');
const { writeRecording } = await import(process.argv[1]);
const directory = process.argv[2];
const write = (number, length) =>
  writeRecording(directory, { version: 1, at: '2026-05-01T10:00:00.000Z', hook: 'a.sh', module: 'web', text: 'x'.repeat(length) }, number);
for (const number of [1, 2]) await write(number, 100);
const message = await write(3, 2_000_000).catch((error) => error.message);
const files = await readdir(directory);
const texts = await Promise.all(files.map((file) => readFile(directory + '/' + file, 'utf8')));
console.log(JSON.stringify({ message, lengths: texts.map((text) => JSON.parse(text).text.length) }));`;

test('a recording that breaks off half written fails, nothing is left of it, and those before it stay', async () => {
  const below = join(await directory(), 'new');
  const files = fileURLToPath(new URL('recording-files.ts', import.meta.url));
  const node = [process.execPath, '--input-type=module', '-e', WITH_SMALL_FILES, files, below];
  const { stdout } = await execa('sh', ['-c', 'ulimit -f 200 && exec "$@"', 'sh', ...node]);
  expect(JSON.parse(stdout)).toEqual({
    message: expect.stringMatching(
      /^cannot write the recording .*-0003-web-a\.sh\.json: EFBIG.*; raise the limit for the size of files \(ulimit -f\)$/,
    ),
    lengths: [100, 100],
  });
});

test('the failure on a full disk says what helps', async () => {
  const failure = await writeFile('/dev/full', 'x').catch((cause: unknown) => writeFailure('a.json', cause));
  expect(failure).toMatchObject({
    message: expect.stringMatching(
      /^cannot write the recording a\.json: ENOSPC.*; free space, or record into another directory with -o$/,
    ),
    cause: { code: 'ENOSPC' },
  });
});

test('without recordings a directory is refused', async () => {
  const empty = await directory();
  await expect(findRecordings(empty)).rejects.toThrow(`no recordings in ${empty}`);
  await expect(findRecordings(join(empty, 'gone'))).rejects.toThrow('cannot read');
});
