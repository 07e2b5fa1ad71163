import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { JournalFile } from './journal-file.ts';

async function lab() {
  const root = await mkdtemp(join(tmpdir(), 'journal-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const directory = join(root, 'journal');
  const warnings: string[] = [];
  const log = {
    warn: (fields: object, message: string) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  return {
    directory,
    runs: join(directory, 'runs'),
    warnings,
    open: async (maxBytes?: number) =>
      await JournalFile.open({ directory, log, ...(maxBytes !== undefined && { maxBytes }) }),
    /** What the next start reads. */
    records: async () => {
      await using file = await JournalFile.open({ directory, log });
      return file.take();
    },
  };
}

test('records are read back in order, also those of several starts', async () => {
  const { open, records, warnings } = await lab();
  for (const start of [1, 2]) {
    await using file = await open();
    file.append({ start, text: 'ü\n' });
    file.append({ start, end: true });
  }
  expect(await records()).toEqual([
    { start: 1, text: 'ü\n' },
    { start: 1, end: true },
    { start: 2, text: 'ü\n' },
    { start: 2, end: true },
  ]);
  expect(warnings).toEqual([]);
});

test('the files are bounded, begin with the preamble, and only their user reads them', async () => {
  const { open, records, directory } = await lab();
  {
    await using file = await open(1_000);
    file.preamble = () => [{ preamble: true }];
    for (let number = 0; number < 500; number += 1) {
      file.append({ number });
      // Also while a file is replaced by the next one.
      await setImmediate();
    }
  }
  const read = await records();
  expect(read[0]).toEqual({ preamble: true });
  const numbers = read.flatMap((record) => ('number' in record ? [record.number] : []));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 500 - numbers.length + index));
  const sizes = await Promise.all(['runs', 'runs.old'].map((name) => stat(join(directory, name))));
  for (const { size, mode } of sizes) {
    expect(size).toBeLessThan(2_000);
    expect(mode & 0o077).toBe(0);
  }
});

// FAULT-D22
test.each([
  ['a torn last line', (content: string) => content.slice(0, -3), 'the last line is not complete', 1],
  [
    'a changed byte',
    (content: string) => content.replace('"number":2', '"number":3'),
    'a checksum is wrong',
    1,
  ],
  ['another version', (content: string) => content.replace(/.*/, '7ed12a6c {"journal":9}'), 'wrong', 0],
  ['no journal at all', () => '\0\0\0\0\n\0', 'a checksum is wrong', 0],
])(
  '%s loses only what follows, with a warning, and what is written next is read',
  async (_, damage, text, kept) => {
    const { open, records, runs, warnings } = await lab();
    {
      await using file = await open();
      file.append({ number: 1 });
      file.append({ number: 2 });
    }
    await writeFile(runs, damage(await readFile(runs, 'utf8')));
    {
      await using file = await open();
      expect(file.take()).toEqual([{ number: 1 }].slice(0, kept));
      file.append({ number: 4 });
    }
    expect(warnings).toEqual([expect.stringContaining(text)]);
    expect(await records()).toEqual([...[{ number: 1 }].slice(0, kept), { number: 4 }]);
  },
);

test.each([
  [
    'a link in place of the file',
    async (directory: string) => {
      await mkdir(directory, { mode: 0o700 });
      await symlink('/dev/null', join(directory, 'runs'));
    },
    'cannot be used',
  ],
  [
    'a directory in which others may write',
    async (directory: string) => {
      await mkdir(directory);
      await chmod(directory, 0o777);
    },
    'other users can write to it',
  ],
  ['a file in place of the directory', async (directory: string) => await writeFile(directory, ''), 'exist'],
])('with %s nothing is written, with a warning', async (_, prepare, text) => {
  const { open, directory, warnings } = await lab();
  await prepare(directory);
  const file = await open();
  file.append({ number: 1 });
  await file[Symbol.asyncDispose]();
  expect(file.take()).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining(text)]);
});

// FAULT-D22
test('when a write fails, the journal stays in memory, with one warning', async () => {
  const { directory, records } = await lab();
  const program = `
    import { JournalFile } from ${JSON.stringify(join(import.meta.dirname, 'journal-file.ts'))};
    const log = { warn: ({ error }, message) => console.log(message, error) };
    await using file = await JournalFile.open({ directory: ${JSON.stringify(directory)}, log });
    for (let number = 0; number < 3; number += 1) {
      file.append({ number, text: 'x'.repeat(300) });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }`;
  // A file may have 512 bytes; without the trap the kernel would kill the process at more.
  const limited = `trap '' XFSZ; ulimit -f 1; exec "$0" --input-type=module -e "$1"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, program]);
  expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/only in memory from now on .*EFBIG/)]);
  expect(await records()).toEqual([expect.objectContaining({ number: 0 })]);
});
