import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
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

/** Records runs on a disk with room for a few of them, and prints what came of it. */
const ON_SMALL_DISK = `
const { readdir, readFile } = await import('node:fs/promises');
const { writeRecording } = await import(process.argv[1]);
const disk = process.argv[2];
const recording = { version: 1, at: '2026-05-01T10:00:00.000Z', hook: 'a.sh', module: 'web', values: { text: 'x'.repeat(20_000) } };
let written = 0;
let message = '';
while (message === '') {
  try { await writeRecording(disk, recording, written + 1); written += 1; } catch (error) { message = error.message; }
}
const files = await readdir(disk);
const texts = await Promise.all(files.map((file) => readFile(disk + '/' + file, 'utf8')));
const isWhole = texts.every((text) => JSON.parse(text).values.text.length === 20_000);
console.log(JSON.stringify({ written, files, isWhole, message }));`;

test('on a full disk a recording fails with the remedy, and those before it stay', async ({ skip }) => {
  const disk = await directory();
  const mounted = 'mount -t tmpfs -o size=128k tmpfs "$0" && exec "$@"';
  const node = [process.execPath, '--input-type=module', '-e', ON_SMALL_DISK];
  const files = fileURLToPath(new URL('recording-files.ts', import.meta.url));
  const { exitCode, stdout, stderr } = await execa(
    'unshare',
    ['-m', 'sh', '-c', mounted, disk, ...node, files, disk],
    { reject: false },
  );
  if (exitCode !== 0 && /unshare|mount/.test(stderr)) skip(`needs the right to mount: ${stderr}`);
  const { written, files: left, isWhole, message } = JSON.parse(stdout) as Record<string, unknown>;
  expect(written).toBeGreaterThan(0);
  expect(left).toHaveLength(written as number);
  expect(isWhole).toBe(true);
  expect(message).toMatch(
    /^cannot write the recording .*ENOSPC.*; free space, or record into another directory with -o$/,
  );
});

test('without recordings a directory is refused', async () => {
  const empty = await directory();
  await expect(findRecordings(empty)).rejects.toThrow(`no recordings in ${empty}`);
  await expect(findRecordings(join(empty, 'gone'))).rejects.toThrow('cannot read');
});
