import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { uniqueName } from '../support/module-world.ts';
import { addVersion, storeWorld } from '../support/store/store-world.ts';
import type { Backend, World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { untilNoProcesses } from '../support/world-processes.ts';

const WAIT = { timeout: 60_000, interval: 100 };

async function untilRuns(world: World, name: string, version: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: version, hook: version } });
  }, WAIT);
}

/** How long the daemon is killed again and again, at least so many times, and the longest time of a switch in which a kill falls. */
const KILLING_MS = 40_000;
const MIN_KILLS = 3;
const SWITCH_MS = 4_000;
const never = new AbortController().signal;

/** Records of the daemon at which it is killed while it switches a module. */
const MOMENTS = ['Module is switched to another version', 'Helm upgrade successful'];

describeCluster('after kill -9 of the daemon in a switch', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  // FAULT-D18
  test('a module runs wholly in one version, and its release is never uninstalled', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend, [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    {
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await untilRuns(world, name, '1.0.0');
      await daemon.kill();
    }
    for (const [index, moment] of MOMENTS.entries()) {
      await untilNoProcesses(world);
      const version = `1.${index + 1}.0`;
      {
        await using daemon = DaemonProcess.start(world);
        await daemon.untilConverged();
        await addVersion(world, name, version);
        await daemon.log.untilMessage(moment);
        await daemon.kill();
      }
      const { data } = (await world.get('configmaps', name)) as { data: Readonly<Record<string, string>> };
      expect(data['chart']).toBe(data['hook']);
      await untilNoProcesses(world);
      await using daemon = DaemonProcess.start(world);
      await daemon.untilConverged();
      await untilRuns(world, name, version);
      await daemon.kill();
    }
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    const left = await readdir(join(world.directory, 'store'), { recursive: true });
    expect(left.filter((path) => /(^|\/)\.(tmp|trash)-/.test(path))).toEqual([]);
  });

  // FAULT-D18
  test('killed at any moment of additions, switches and clean-ups, it comes back in one version', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend, [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0');
    await startAndKill(world, async (daemon) => {
      await daemon.untilConverged();
      await untilRuns(world, name, '1.0.0');
    });
    const random = seeded(Number(process.env['PROPERTY_SEED'] ?? 1));
    const endMs = systemClock.steadyMs() + KILLING_MS;
    for (let number = 1; number <= MIN_KILLS || systemClock.steadyMs() < endMs; number += 1) {
      const waitMs = random() * SWITCH_MS;
      await startAndKill(world, async (daemon) => {
        // Before, while or after it converges.
        if (number % 3 > 0) await daemon.untilConverged();
        const changes = addVersion(world, name, `1.0.${number}`).then(() =>
          runInWorld(world, 'module', 'store', 'gc'),
        );
        await systemClock.sleep(waitMs, never);
        await daemon.kill();
        await changes;
      });
      const { data } = (await world.get('configmaps', name)) as { data: Readonly<Record<string, string>> };
      // A release that was killed in its upgrade is either of the two, as a whole.
      expect({ number, waitMs, chart: data['chart'] }).toMatchObject({ chart: data['hook'] });
      await expectWholeStore(world);
    }
    const version = await linkedVersion(world, name);
    await startAndKill(world, async (daemon) => {
      await daemon.untilConverged();
      await untilRuns(world, name, version);
    });
    expect(await world.helmCalls()).not.toContainEqual(expect.stringMatching(/^uninstall/));
    const left = await readdir(join(world.directory, 'store'), { recursive: true });
    expect(left.filter((path) => /(^|\/)\.(tmp|trash)-/.test(path))).toEqual([]);
  });
});

async function startAndKill(world: World, act: (daemon: DaemonProcess) => Promise<void>): Promise<void> {
  await using daemon = DaemonProcess.start(world);
  await act(daemon);
  await daemon.kill();
  await untilNoProcesses(world);
}

/** Numbers in [0, 1) that are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** The version that the link of the module leads to. */
async function linkedVersion(world: World, name: string): Promise<string> {
  const chart = await readFile(join(world.directory, 'store/current', `030-${name}`, 'Chart.yaml'), 'utf8');
  return /^version: (.*)$/mu.exec(chart)?.[1] ?? '';
}

/** Links lead to content that is there. */
async function expectWholeStore(world: World): Promise<void> {
  const current = join(world.directory, 'store/current');
  for (const link of await readdir(current))
    expect(await readdir(join(current, link))).toContain('Chart.yaml');
}
