import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { Journal } from '../../journal/journal.ts';
import { TICK_MS } from '../../server/api/stream-hub.ts';
import { runCli } from '../run-cli.ts';
import { eventLine } from './follow-events.ts';

const START = {
  queue: 'main',
  taskId: 'main/1',
  type: 'ModuleRun',
  module: 'web',
  hook: '',
  binding: '',
  trigger: 'start',
  eventId: 'e-1',
  triggeredBy: undefined,
  attempt: 1,
  queuedMs: 0,
};

/** Runs `events` until it ends, or `onLine` returns false. */
async function events(
  journal: Journal,
  clock: FakeClock,
  args: readonly string[],
  onLine: (line: string) => boolean = () => true,
) {
  const directory = await mkdtemp(join(tmpdir(), 'events-'));
  const path = join(directory, 'debug.socket');
  const identity = { ...NO_COMMANDS.identity, clock };
  const view = daemonView({ journal, stateKey: () => String(journal.revision) });
  const server = await startDebugEndpoint(path, { view, identity });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  const stop = new AbortController();
  const out: string[] = [];
  const exitCode = await runCli(['events', '--debug-unix-socket', path, ...args], {
    env: {},
    cwd: directory,
    clock,
    stdout: {
      write: (text) => {
        out.push(text);
        if (!onLine(text)) stop.abort();
      },
    },
    stderr: { write: (text) => out.push(text) },
    stopSignal: () => stop.signal,
  });
  return { exitCode, out };
}

test('events prints the last runs, the oldest first', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock });
  journal.end(journal.begin(START), { result: 'success' });
  journal.end(journal.begin(START), { result: 'failed', error: 'no chart' });
  expect(await events(journal, clock, [])).toEqual({
    exitCode: 0,
    out: [
      '1970-01-01T00:00:00.000Z run 1: ModuleRun web success\n1970-01-01T00:00:00.000Z run 2: ModuleRun web failed: no chart\n',
    ],
  });
});

test('events --for prints only what is about a module, a hook or a queue', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock });
  journal.end(journal.begin(START), { result: 'success' });
  journal.end(journal.begin({ ...START, module: 'db', hook: 'a.sh', queue: 'own' }), { result: 'success' });
  for (const name of ['db', 'db/a.sh', 'a.sh', 'own'])
    expect((await events(journal, clock, ['--for', name, '-o', 'name'])).out).toEqual(['run/2\n']);
  expect((await events(journal, clock, ['--for', 'other', '-o', 'name'])).out).toEqual([]);
});

test('events prints names, and documents of YAML', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock });
  journal.end(journal.begin(START), { result: 'success' });
  journal.end(journal.begin(START), { result: 'failed', error: 'no chart' });
  expect((await events(journal, clock, ['-o', 'name'])).out).toEqual(['run/1\nrun/2\n']);
  const { out } = await events(journal, clock, ['-o', 'yaml']);
  expect(loadAll(out.join(''))).toContainEqual({
    event: 'snapshot',
    data: expect.objectContaining({
      topic: 'runs',
      data: expect.objectContaining({
        runs: [expect.objectContaining({ id: '2' }), expect.objectContaining({ id: '1' })],
      }),
    }),
  });
});

test('events -w goes on with each run, as JSON lines too', async () => {
  const clock = new FakeClock();
  const journal = new Journal({ clock });
  const { exitCode, out } = await events(journal, clock, ['-w', '-o', 'json'], (line) => {
    if (line.includes('"ready"')) {
      journal.end(journal.begin(START), { result: 'success' });
      void clock.advance(TICK_MS);
    }
    return !line.includes('"event":"run"');
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(out.at(-1) ?? '')).toMatchObject({ event: 'run', data: { id: '1', result: 'success' } });
});

test.each<[string, object, string]>([
  ['queue', { name: 'main', length: 2, status: { type: 'running' } }, 'queue main: 2 tasks, running'],
  ['queue', { name: 'main', length: 1, status: { type: 'delayed' } }, 'queue main: 1 task, delayed'],
  ['queue', { name: 'main', length: 0, status: { type: 'waiting' } }, 'queue main: empty'],
  ['queue', { name: 'parallel_queue_3', length: 0, status: { type: 'waiting' } }, ''],
  ['module', { module: 'web', status: 'ready' }, 'module web: ready'],
  [
    'module',
    { module: 'web', status: 'starting', heldUpBy: 'hook a.sh hangs', waitsFor: 'a task' },
    'module web: starting: hook a.sh hangs',
  ],
  ['hello', {}, ''],
])('the event %s of %j is one line, or none', (event, data, line) => {
  expect(eventLine({ event, data })).toBe(line);
});
