import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { describe, expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { startHookServer } from '../support/hook-server.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const GRACE_MS = 10_000;

/** Runs when the ConfigMap `start` is created or changed. */
function onStart(queue: string): string {
  return `kubernetes:
- name: maps
  kind: ConfigMap
  apiVersion: v1
  queue: ${queue}
  nameSelector: {matchNames: [start]}
  executeHookOnSynchronization: false`;
}

async function start(world: World, hooks: number): Promise<void> {
  await world.create('configmaps', { metadata: { name: 'start' } });
  await vi.waitFor(() => expect(world.daemon.operator.execution.running.all).toHaveLength(hooks), WAIT);
}

function runningNames(world: World): readonly string[] {
  return world.daemon.operator.execution.running.all.map(
    ({ labels: { module, hook, queue } }) => `${queue} ${module === undefined ? '' : `${module}/`}${hook}`,
  );
}

async function numbersIn(world: World, file: string): Promise<readonly number[]> {
  const text = await readFile(join(world.directory, file), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  expect(pids).not.toEqual([]);
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), WAIT);
}

/** What the queue says about its first task. */
function headOf(world: World, queue: string): unknown {
  return world.daemon.operator.queues.get(queue).entries[0];
}

const ABORTED = { failures: 1, lastCode: 'RUN_ABORTED' };

describeApiIndependent((backend) => {
  describe('a hook that runs', () => {
    test('is shown with its age, queue, task and pid by every command, the API and a metric, until it ends', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'hang.sh': shHook(onStart('main'), 'echo $$ > "$WORLD/pid"; exec sleep 600'),
        },
      });
      await world.converge();
      await start(world, 1);
      const pid = await vi.waitFor(async () => {
        const [first] = await numbersIn(world, 'pid');
        expect(first).toBeDefined();
        expect(world.daemon.operator.execution.running.all[0]?.pid).toBe(first);
        return first;
      }, WAIT);
      world.clock.jump(35_000);
      const sentence = new RegExp(
        `hook hang\\.sh runs for \\d+ s \\(queue main, task GlobalHookRun, pid ${pid}\\)`,
      );
      for (const command of [['status'], ['queue', 'list'], ['queue', 'main']])
        expect((await runInWorld(world, ...command)).stdout).toMatch(sentence);
      const socketPath = join(world.directory, 'debug.socket');
      const now = await requestDebug({ socketPath, path: '/api/v1/now' }, systemClock);
      expect(JSON.parse(now.body)).toMatchObject({
        headline: { level: 'waiting', text: expect.stringMatching(sentence) },
        runningHooks: [{ hook: 'hang.sh', binding: 'kubernetes', queue: 'main', task: 'GlobalHookRun', pid }],
      });
      const series =
        'addon_operator_hook_running_since_timestamp_seconds{module="",hook="hang.sh",binding="kubernetes",queue="main"}';
      const metrics = async () => (await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`)).text();
      expect(await metrics()).toContain(series);

      expect(await runInWorld(world, 'hook', 'abort', 'hang.sh', '--drop')).toEqual({
        exitCode: 0,
        stdout: 'the run of hook hang.sh is aborted; the task is dropped\n',
        stderr: '',
      });
      await vi.waitFor(() => {
        expect(runningNames(world)).toEqual([]);
        expect(world.daemon.operator.queues.get('main').entries).toEqual([]);
      }, WAIT);
      await untilGone([pid ?? 0]);
      expect(await metrics()).not.toContain(series);
      expect((await runInWorld(world, 'status')).exitCode).toBe(0);
      // It has just ended.
      const late = await runInWorld(world, 'hook', 'abort', 'hang.sh');
      expect(late).toMatchObject({
        exitCode: 1,
        stderr:
          'error: hook hang.sh does not run; no hook runs\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
      });
    });
  });

  describe('hook abort', () => {
    test('ends a process with its children, one that ignores SIGTERM, a thread and a request, and each task is retried', async () => {
      const requests = { open: 0, closed: 0 };
      await using server = await startHookServer((_body, _request, response) => {
        requests.open += 1;
        response.on('close', () => (requests.closed += 1));
        return 'answered';
      });
      await using world = await World.create(backend(), {
        globalHooks: {
          'family.sh': shHook(
            onStart('family'),
            'sleep 600 & echo $! >> "$WORLD/family"; setsid sleep 600 & echo $! >> "$WORLD/family"; echo $$ >> "$WORLD/family"; wait',
          ),
          'stubborn.sh': shHook(
            onStart('stubborn'),
            `trap 'echo term >> "$WORLD/terms"' TERM; echo $$ >> "$WORLD/stubborn"; while :; do sleep 0.1; done`,
          ),
          'thread.ts': `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ kubernetes: [{ name: 'maps', kind: 'ConfigMap', apiVersion: 'v1', queue: 'thread',
  nameSelector: { matchNames: ['start'] }, executeHookOnSynchronization: false }] },
  () => { console.log('in the loop'); for (;;); });
`,
          'request.http.yaml': `address: ${server.url}/\ntimeout: 10m\n${onStart('request')}\n`,
        },
      });
      await world.converge();
      await start(world, 4);
      await vi.waitFor(async () => {
        expect(await numbersIn(world, 'family')).toHaveLength(3);
        expect(await numbersIn(world, 'stubborn')).toHaveLength(1);
        expect(world.log.printed).toContain('in the loop');
        expect(requests).toEqual({ open: 1, closed: 0 });
      }, WAIT);
      const family = await numbersIn(world, 'family');
      const stubborn = await numbersIn(world, 'stubborn');

      for (const hook of ['family.sh', 'stubborn.sh', 'thread.ts', 'request.http.yaml'])
        expect((await runInWorld(world, 'hook', 'abort', hook)).stdout).toBe(
          `the run of hook ${hook} is aborted; the task is retried as after a failure\n`,
        );
      await vi.waitFor(() => {
        for (const queue of ['family', 'thread', 'request'])
          expect(headOf(world, queue)).toMatchObject(ABORTED);
      }, WAIT);
      await untilGone(family);
      await vi.waitFor(() => expect(requests.closed).toBe(1), WAIT);
      await vi.waitFor(
        async () => expect(await readFile(join(world.directory, 'terms'), 'utf8')).toBe('term\n'),
        WAIT,
      );
      expect(runningNames(world)).toEqual(['stubborn stubborn.sh']);
      world.clock.jump(GRACE_MS);
      await untilGone(stubborn);
      await vi.waitFor(() => expect(headOf(world, 'stubborn')).toMatchObject(ABORTED), WAIT);
    });

    test('names the hook of one module, or the run in one queue, where several have the name', async () => {
      const body = 'exec sleep 600';
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'oneEnabled: true\ntwoEnabled: true\n',
          '001-one/hooks/same.sh': shHook(onStart('a'), body),
          '002-two/hooks/same.sh': shHook(
            `${onStart('a2')}\n${onStart('b').replace('kubernetes:\n', '').replace('maps', 'others')}`,
            body,
          ),
        },
      });
      await world.converge();
      await start(world, 3);
      const abort = (...args: readonly string[]) => runInWorld(world, 'hook', 'abort', ...args);
      expect(await abort('hooks/same.sh')).toMatchObject({
        exitCode: 1,
        stderr:
          'error: several hooks have this name: name one of one/hooks/same.sh, two/hooks/same.sh\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
      });
      expect(await abort('hooks/same.sh', '--queue', 'b', '--drop')).toMatchObject({ exitCode: 0 });
      await vi.waitFor(
        () => expect(runningNames(world).toSorted()).toEqual(['a one/hooks/same.sh', 'a2 two/hooks/same.sh']),
        WAIT,
      );
      expect(await abort('one/hooks/same.sh', '--drop')).toMatchObject({ exitCode: 0 });
      await vi.waitFor(() => expect(runningNames(world)).toEqual(['a2 two/hooks/same.sh']), WAIT);
      expect(await abort('two/hooks/same.sh', '--drop')).toMatchObject({ exitCode: 0 });
      await vi.waitFor(() => expect(runningNames(world)).toEqual([]), WAIT);
    });
  });
});
