import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

/**
 * Writes numbered records and prints to stderr how many were dropped. Then it ends at once, when the reader is back, or
 * without waiting for that.
 */
const PROGRAM = `
const [stdoutFile, clockFile, records, end] = process.argv.slice(1);
const { stdoutLogOutput } = await import(stdoutFile);
const { systemClock } = await import(clockFile);
const output = stdoutLogOutput(systemClock);
const recovered = Promise.withResolvers();
output.onRecovered((dropped) => {
  output.write(JSON.stringify({ dropped }) + '\\n');
  recovered.resolve();
});
for (let record = 0; record < Number(records); record += 1)
  output.write(JSON.stringify({ record, padding: 'x'.repeat(80) }) + '\\n');
process.stderr.write('written ' + output.dropped);
if (end === 'at once') process.exit(3);
if (end === 'when the reader is back') await recovered.promise;
await output.close();
output.write('{"closed":true}\\n');`;

const [STDOUT_FILE, CLOCK_FILE] = ['./stdout-log-output.ts', '@addon-operator/base/clock'].map((module) =>
  import.meta.resolve(module),
);

type Program = ChildProcessByStdio<null, Readable, Readable>;

type End = 'at once' | 'when the reader is back' | 'unread';

function start(records: number, end: End, within: readonly string[] = []): Program {
  const own = [process.execPath, '--input-type=module', '-e', PROGRAM, STDOUT_FILE ?? '', CLOCK_FILE ?? ''];
  const [program, ...args] = [...within, ...own, String(records), end];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** How many records the program has dropped, once it has written all. */
async function dropped(child: Program): Promise<number> {
  const [said] = (await once(child.stderr, 'data')) as [Buffer];
  return Number(/written (\d+)/.exec(String(said))?.[1]);
}

// FAULT-E5
test('a process goes on, drops whole records and counts them, when nothing reads its full standard output', async () => {
  const child = start(100_000, 'when the reader is back');
  const count = await dropped(child);
  expect(count).toBeGreaterThan(0);
  const lines = (await text(child.stdout)).trimEnd().split('\n');
  const records = lines.map(
    (line) => JSON.parse(line) as { readonly record?: number; readonly dropped?: number },
  );
  const reported = records.flatMap((record) => record.dropped ?? []);
  expect(reported).toEqual([count]);
  expect(records.filter(({ record }) => record !== undefined)).toHaveLength(100_000 - count);
  expect(lines.at(-1)).toBe('{"closed":true}');
});

test('a process still comes to its end, when nothing ever reads its full standard output', async () => {
  const child = start(100_000, 'unread');
  const ended = once(child, 'exit');
  await dropped(child);
  expect(await ended).toEqual([0, null]);
});

test.each(['not at all', 'no more'])(
  'a process goes on, when its standard output is read %s',
  async (when) => {
    const child = start(20_000, 'at once');
    if (when === 'not at all') child.stdout.destroy();
    else child.stdout.once('data', () => child.stdout.destroy());
    expect(await once(child, 'exit')).toEqual([3, null]);
  },
);

test('a process goes on, when its standard output is a full disk', async () => {
  const child = start(10, 'unread', ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full']);
  // Its end may be noticed before what it printed.
  const ended = once(child, 'exit');
  expect(await dropped(child)).toBe(10);
  expect(await ended).toEqual([0, null]);
});
