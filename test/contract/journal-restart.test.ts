import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { fieldsOf, parseJson } from '@addon-operator/json';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunView } from '../../src/journal/run-view.ts';
import { requestDebug } from '../../src/server/debug-client.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

let backend: SandboxBackend;
beforeAll(async () => {
  backend = await sandboxBackend();
});
afterAll(() => backend[Symbol.asyncDispose]());

async function runsOf({ directory }: World): Promise<readonly RunView[]> {
  const socketPath = join(directory, 'debug.socket');
  const { body } = await requestDebug({ socketPath, path: '/api/v1/runs?limit=500' }, systemClock);
  return fieldsOf(parseJson(body))['runs'] as readonly RunView[];
}

/** Hangs until the world has been restarted. */
const HANG = '[ -e "$WORLD/restarted" ] || { echo "hook hangs"; while :; do sleep 600; done; }';

// FAULT-D22
test('after kill -9 of the daemon its ended runs are known, and a damaged journal does not stop the next start', async () => {
  await using world = await World.create(backend, {
    globalHooks: {
      'a.sh': shHook('onStartup: 1', 'echo "line of a"'),
      'b.sh': shHook('onStartup: 2', HANG),
    },
  });
  let before: readonly RunView[];
  {
    await using daemon = DaemonProcess.start(world);
    await daemon.log.untilPrinted('hook hangs');
    before = await runsOf(world);
    await daemon.kill();
  }
  const ended = before.filter(({ result }) => result !== 'running');
  const [running] = before.filter(({ result }) => result === 'running');
  expect(ended.map(({ hook }) => hook)).toContain('a.sh');
  expect(running?.hook).toBe('b.sh');
  await world.write('modules', { '../restarted': '' });
  {
    await using daemon = DaemonProcess.start(world);
    await daemon.untilConverged();
    const runs = await runsOf(world);
    expect(runs.filter((run) => run.isOfEarlierStart)).toEqual(
      ended.map((run) => ({ ...run, isOfEarlierStart: true })),
    );
    for (const run of runs.filter(({ isOfEarlierStart }) => !isOfEarlierStart))
      expect(Number(run.id)).toBeGreaterThan(Number(running?.id));
    await daemon.kill();
  }
  const file = join(world.directory, 'tmp/journal/runs');
  await appendFile(file, 'half a li');
  await using daemon = DaemonProcess.start(world);
  await daemon.untilConverged();
  expect(await daemon.record('the end of the journal of runs is lost')).toMatchObject({
    level: 'warn',
    lost: 9,
  });
  expect((await runsOf(world)).filter(({ hook }) => hook === 'a.sh')).toHaveLength(3);
});
