import { constants } from 'node:os';
import { expect, test } from 'vitest';
import type { ProcessEnd, SpawnRequest } from './launcher-protocol.ts';
import { nodeSpawner } from './node-spawner.ts';
import type { SpawnedProcess, SpawnListener } from './spawner.ts';

interface Watched {
  readonly output: () => string;
  readonly exited: Promise<void>;
  readonly ended: Promise<ProcessEnd>;
  readonly child: SpawnedProcess;
}

const request = (script: string): SpawnRequest => ({
  file: 'sh',
  args: ['-c', script],
  cwd: '/',
  env: ['PATH=/usr/bin:/bin'],
});

async function start(script: string): Promise<Watched> {
  let output = '';
  const exited = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<ProcessEnd>();
  const listener: SpawnListener = {
    onOutput: (stream, bytes) => {
      output += `${stream}: ${bytes.toString()}`;
    },
    onExit: exited.resolve,
    onEnd: ended.resolve,
  };
  const child = await nodeSpawner('/bin/sh', request(script), listener);
  return { output: () => output, exited: exited.promise, ended: ended.promise, child };
}

test('nodeSpawner() hands over output and exit code', async () => {
  const run = await start('echo out; exit 5');
  expect(await run.ended).toEqual({ exit: { code: 5 } });
  expect(run.output()).toBe('stdout: out\n');
});

test('nodeSpawner() gives the process empty input', async () => {
  const run = await start('cat >&2; echo end >&2');
  await run.ended;
  expect(run.output()).toBe('stderr: end\n');
});

test('nodeSpawner() signals the whole group', async () => {
  const run = await start('sh -c "kill -STOP \\$\\$; sleep 1000" & wait');
  run.child.signal(constants.signals.SIGKILL);
  expect(await run.ended).toEqual({ exit: { signal: constants.signals.SIGKILL } });
});

test('nodeSpawner() closes pipes that outlive the process on request', async () => {
  const run = await start('sleep 1000 & exit 0');
  await run.exited;
  run.child.finish();
  expect(await run.ended).toEqual({ exit: { code: 0 } });
});

test('nodeSpawner() rejects with the errno of a failed spawn', async () => {
  const listener: SpawnListener = {
    onOutput: () => undefined,
    onExit: () => undefined,
    onEnd: () => undefined,
  };
  await expect(nodeSpawner('/no/such/file', request(''), listener)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(() =>
    nodeSpawner('/bin/sh', { ...request(''), env: [`BIG=${'x'.repeat(200_000)}`] }, listener),
  ).toThrow('E2BIG');
});
