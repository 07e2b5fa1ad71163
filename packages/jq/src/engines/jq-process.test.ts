import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { JqProcess } from './jq-process.ts';

const never = new AbortController().signal;
const clock = new FakeClock();
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'jq-process-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

function fifo(name: string): string {
  const file = path.join(directory, name);
  execFileSync('mkfifo', [file]);
  return file;
}

function echo(script: string): JqProcess {
  const args = ['-c', `while read -r line; do ${script}; done`];
  const child = new JqProcess({ file: '/bin/sh', args, clock, timeLimitMs: 1_000 });
  onTestFinished(() => child.stop());
  return child;
}

test('query() returns the responses in the order of the requests', async () => {
  const child = echo('echo "<$line>"');
  const questions = Array.from({ length: 50 }, (_, index) => `question ${index}`);
  const responses = await Promise.all(questions.map((question) => child.query(question, never)));
  expect(responses).toEqual(questions.map((question) => `<${question}>`));
});

test('query() fails for the request the process dies of, and sends the others again', async () => {
  const child = echo('[ "$line" != die ] || { echo "out of ideas" >&2; exit 3; }; echo "<$line>"');
  const responses = await Promise.allSettled(['a', 'die', 'b', 'c'].map((line) => child.query(line, never)));
  expect(
    responses.map((response) => (response.status === 'fulfilled' ? response.value : String(response.reason))),
  ).toEqual([
    '<a>',
    'OperatorError: The jq process did not respond: it ended with exit code 3: out of ideas',
    '<b>',
    '<c>',
  ]);
});

test('query() measures the time of each request from the response before it', async () => {
  const [first, second] = [fifo('first'), fifo('second')];
  const child = echo(`[ "$line" = end ] || read -r x < "$line"; echo "<$line>"`);
  const responses = [
    child.query(first, never),
    child.query(second, never).catch(String),
    child.query('end', never),
  ];
  await clock.advance(900);
  writeFileSync(first, 'go\n');
  expect(await responses[0]).toBe(`<${first}>`);
  await clock.advance(999);
  expect(clock.pendingDelaysMs).toEqual([1]);
  await clock.advance(1);
  expect(await responses[1]).toBe('OperatorError: jq took longer than 1000 ms for one object');
  expect(await responses[2]).toBe('<end>');
  expect(clock.pendingDelaysMs).toEqual([]);
});

test('query() fails on a response without end', async () => {
  const child = echo('head -c 40000000 /dev/zero; echo');
  await expect(child.query('x', never)).rejects.toMatchObject({
    code: 'JQ_RUNTIME',
    message: expect.stringContaining('larger than'),
  });
});

test('retire() ends the process after its last response', async () => {
  const child = echo('echo "<$line>"');
  const response = child.query('last', never);
  await child.retire();
  expect(await response).toBe('<last>');
});

test('a process in an endless loop dies with a daemon that is killed by SIGKILL', async () => {
  const [ready, alive] = [fifo('ready'), fifo('alive')];
  const daemonFile = path.join(directory, 'daemon.mjs');
  writeFileSync(
    daemonFile,
    `import { JqProcess } from ${JSON.stringify(path.join(import.meta.dirname, 'jq-process.ts'))};
     import { systemClock } from ${JSON.stringify(import.meta.resolve('@addon-operator/base/clock'))};
     const args = ['-c', process.argv[2]];
     await new JqProcess({ file: '/bin/sh', args, clock: systemClock, timeLimitMs: 1e9 })
       .query('x', new AbortController().signal);`,
  );
  const script = `exec 5> ${alive}; echo > ${ready}; while :; do :; done`;
  const daemon = spawn(process.execPath, [daemonFile, script], { stdio: 'ignore' });
  onTestFinished(() => void daemon.kill('SIGKILL'));
  const released = readFile(alive, 'utf8');
  await readFile(ready);
  daemon.kill('SIGKILL');
  expect(await released).toBe('');
});

test('query() gives one request more time than the others, and those behind it no more than theirs', async () => {
  const [first, second] = [fifo('patient'), fifo('behind')];
  const child = echo('read -r x < "$line"; echo "<$line>"');
  const responses = [child.query(first, never, 5_000), child.query(second, never).catch(String)];
  await clock.advance(4_999);
  writeFileSync(first, 'go\n');
  expect(await responses[0]).toBe(`<${first}>`);
  await clock.advance(1_000);
  expect(await responses[1]).toBe('OperatorError: jq took longer than 1000 ms for one object');
});

test.each([
  ['a\0b', 'null bytes'],
  ['/nowhere/jq', 'exit code 127'],
  ['/etc/passwd', 'exit code 126'],
])(
  'query() fails when %j cannot be started, and a later request gets its own response',
  async (file, reason) => {
    const options = { file: '/bin/cat', args: [] as string[], clock, timeLimitMs: 1_000 };
    const child = new JqProcess(options);
    onTestFinished(() => child.stop());
    options.file = file;
    await expect(child.query('first', never)).rejects.toMatchObject({
      code: 'JQ_UNAVAILABLE',
      message: expect.stringContaining(reason),
    });
    options.file = '/bin/cat';
    expect(await Promise.all([child.query('second', never), child.query('third', never)])).toEqual([
      'second',
      'third',
    ]);
  },
);
