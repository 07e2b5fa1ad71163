import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import {
  type EventInCluster,
  eventsOf,
  type ModuleInCluster,
  modulePath,
  moduleWorld,
  readModule,
  uniqueName,
  untilStatus,
} from '../support/module-world.ts';
import type { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 200 };

function conditions({ status }: ModuleInCluster): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]),
  );
}

/** For attempts: while the cluster is slow, the real clock may bring one more than the test asked for. */
function atLeast(count: number): number {
  return expect.toSatisfy((value: number) => value >= count);
}

async function untilEvent(world: World, name: string, event: Partial<EventInCluster>): Promise<void> {
  await vi.waitFor(
    async () => expect(await eventsOf(world, name)).toContainEqual(expect.objectContaining(event)),
    WAIT,
  );
}

function chartModule(name: string) {
  return {
    'values.yaml': `${name}Enabled: true\n`,
    ...under(`001-${name}`, {
      ...configMapChart(name, name),
      'hooks/hook.sh': shHook('beforeHelm: 1', '[ ! -e "$WORLD/broken" ] || exit 1; echo runs'),
    }),
  };
}

describeLifecycle((backend) => {
  test('a module has an object with its status, and nothing is written while nothing changes', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { modules: chartModule(name), config: {} }, [name]);
    const { world } = made;
    await world.converge();
    await world.daemon.operator.router.main.untilEmpty();
    const object = await vi.waitFor(async () => {
      const written = await untilStatus(world, name, {
        phase: 'Succeeded',
        operator: `${world.namespace}/addon-operator`,
        enablement: { enabled: true },
        release: { name, revision: 1, digest: expect.any(String) },
        lastReconcileTime: expect.any(String),
        lastRun: { result: 'success' },
        hookRuns: [{ hook: 'hooks/hook.sh', binding: 'beforeHelm', result: 'success' }],
      });
      expect(conditions(written)).toMatchObject({
        Ready: 'True Succeeded',
        Reconciling: 'False Idle',
        Drifted: 'Unknown NotWatched',
        Stalled: 'False NotStalled',
      });
      return written;
    }, WAIT);
    expect(object.status?.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual(
      Array.from({ length: 5 }, () => object.metadata.generation),
    );
    await untilEvent(world, name, { type: 'Normal', reason: 'Enabled' });
    await untilEvent(world, name, {
      reason: 'Deployed',
      message: `Revision 1 of release ${name} is deployed`,
    });
    await world.clock.passSleep(10_000);
    await world.clock.passSleep(10_000);
    expect((await readModule(world, name))?.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
  });

  test.each([
    ['warn', 'an object'],
    ['warn', 'a release'],
    ['heal', 'a release'],
  ])('with drift mode %s %s that others delete makes the module not ready at once', async (mode, what) => {
    const name = uniqueName();
    const modules = { ...chartModule(name), [`001-${name}/module.yaml`]: `drift: {mode: ${mode}}\n` };
    await using made = await moduleWorld(backend(), { modules }, [name]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    // A hook that fails keeps what was deleted from coming back before the test has seen that it is gone.
    await world.write('modules', { '../broken': '' });
    const record = world.path('secrets', `sh.helm.release.v1.${name}.v1`);
    const gone = [...(what === 'a release' ? [record] : []), world.path('configmaps', name)];
    for (const path of gone) await world.expect({ method: 'DELETE', path });
    await vi.waitFor(async () => {
      const object = await readModule(world, name);
      expect(object === undefined ? '' : conditions(object)['Ready']).toBe('False RunFailed');
    }, WAIT);
    await rm(join(world.directory, 'broken'));
    world.daemon.operator.router.main.cutDelay();
    await untilStatus(world, name, { phase: 'Succeeded' });
    expect(await world.get('configmaps', name)).toBeDefined();
  });

  test('a refused ConfigMap and its correction are in the object at once, and no Event warns about a disabled module', async () => {
    const [name, off] = [uniqueName(), uniqueName()];
    const modules = { ...chartModule(name), [`002-${off}/values.yaml`]: `${off}Enabled: false\n` };
    await using made = await moduleWorld(backend(), { modules, config: {} }, [name, off]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    const untilReady = async (ready: string): Promise<void> => {
      // Without a notice the operator looks at modules every ten seconds.
      const soon = { timeout: 5_000, interval: 100 };
      await vi.waitFor(async () => {
        const object = await readModule(world, name);
        expect(object === undefined ? '' : conditions(object)['Ready']).toBe(ready);
      }, soon);
    };
    for (const replicas of ['many', 'few']) {
      await world.putConfig({ [name]: `nope: [${replicas}` });
      await untilReady('False ConfigMapRefused');
      await world.putConfig({});
      await untilReady('True Succeeded');
    }
    await untilEvent(world, name, { type: 'Warning', reason: 'HeldUp' });
    expect(conditions(await untilStatus(world, off, {}))).toMatchObject({
      Ready: 'False Disabled',
      Stalled: 'False NotStalled',
    });
    expect((await eventsOf(world, off)).filter(({ reason }) => reason === 'HeldUp')).toEqual([]);
  });

  test('a daemon that stops directly after its converge has written the statuses of its modules', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { modules: chartModule(name) }, [name]);
    const { world } = made;
    await world.converge();
    await world.stop();
    expect(await readModule(world, name)).toMatchObject({
      status: { phase: 'Succeeded', release: { revision: 1 }, lastRun: { result: 'success' } },
    });
  });

  test('the request limits of the resource monitor do not delay Module objects, when a daemon stops', async () => {
    const names = Array.from({ length: 6 }, uniqueName);
    const flags = { 'helm-monitor-kube-client-qps': '0.01', 'helm-monitor-kube-client-burst': '1' };
    const files = names.map((name) => [`001-${name}/hooks/hook.sh`, shHook('beforeHelm: 1', 'true')]);
    const modules = {
      'values.yaml': names.map((name) => `${name}Enabled: true\n`).join(''),
      ...Object.fromEntries(files),
    };
    await using made = await moduleWorld(backend(), { modules, flags }, names);
    const { world } = made;
    await world.converge();
    await world.stop();
    for (const name of names)
      expect(await readModule(world, name)).toMatchObject({ status: { phase: 'Succeeded' } });
    expect(world.log.records.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('a restart repeats no Event, and keeps the times of conditions', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { modules: chartModule(name) }, [name]);
    const { world } = made;
    await world.converge();
    const before = await untilStatus(world, name, { phase: 'Succeeded' });
    await untilEvent(world, name, { reason: 'Deployed' });
    await world.stop();
    await world.converge();
    const { startedAt } = (before.status ?? {})['lastRun'] as { readonly startedAt: string };
    // Times of runs alone are written 8 s after a start at the earliest; every 10 s the operator looks what has changed.
    for (let looks = 0; looks < 2; looks += 1) await world.clock.passSleep(10_000);
    await untilStatus(world, name, {
      phase: 'Succeeded',
      lastRun: { startedAt: expect.not.stringMatching(startedAt) },
    });
    const since = (object: ModuleInCluster | undefined) =>
      object?.status?.conditions?.find(({ type }) => type === 'Enabled')?.lastTransitionTime;
    const reported = (await eventsOf(world, name)).map(({ reason, count }) => `${reason} ${count}`);
    expect(reported.toSorted()).toEqual(['Deployed 1', 'Enabled 1']);
    expect(since(await readModule(world, name))).toBe(since(before));
  });

  test('a failing module shows the reason and the next retry, and its Events are counted', async () => {
    const name = uniqueName();
    const hook = (body: string) => shHook('beforeHelm: 1', body);
    await using made = await moduleWorld(
      backend(),
      {
        modules: {
          'values.yaml': `${name}Enabled: true\n`,
          [`001-${name}/hooks/hook.sh`]: hook('echo no disk >&2; exit 1'),
        },
      },
      [name],
    );
    const { world } = made;
    await world.start();
    const failing = await untilStatus(world, name, {
      phase: 'Failed',
      failedAttempts: atLeast(1),
      lastError: expect.stringContaining('no disk'),
      nextRetry: expect.any(String),
      hookRuns: [{ result: 'failure', error: expect.stringContaining('no disk') }],
    });
    expect(conditions(failing)).toMatchObject({ Ready: 'False RunFailed', Stalled: 'True RunFailed' });
    await untilEvent(world, name, { type: 'Warning', reason: 'HookFailed' });
    await world.passDelay();
    await untilStatus(world, name, { failedAttempts: atLeast(2) });
    await untilEvent(world, name, { type: 'Warning', reason: 'Failed', count: atLeast(2) });
    await world.write('modules', { [`001-${name}/hooks/hook.sh`]: hook('true') });
    await world.passDelay();
    const mended = await untilStatus(world, name, { phase: 'Succeeded' });
    expect(mended.status).not.toHaveProperty('lastError');
    expect(mended.status).not.toHaveProperty('nextRetry');
  });

  test('the content of a Secret is neither in a status nor in an Event', async () => {
    const name = uniqueName();
    const token = 'correct&horse-battery';
    await using made = await moduleWorld(
      backend(),
      {
        modules: {
          'values.yaml': `${name}Enabled: true\n`,
          [`001-${name}/values.yaml`]: `${name}: {token: {valueFrom: {secretKeyRef: {name: web, key: token}}}}\n`,
          [`001-${name}/hooks/hook.sh`]: shHook(
            'beforeHelm: 1',
            // As Go writes JSON.
            String.raw`sed 's/&/\\u0026/g' "$VALUES_PATH" >&2; exit 1`,
          ),
        },
        flags: { 'secret-references': '*' },
      },
      [name],
    );
    const { world } = made;
    const secret = { kind: 'Secret', metadata: { name: 'web' }, stringData: { token } };
    await world.create('secrets', secret);
    await world.start();
    const { status } = await untilStatus(world, name, {
      phase: 'Failed',
      lastError: expect.stringContaining('***'),
      hookRuns: [{ error: expect.stringContaining('***') }],
    });
    await untilEvent(world, name, { reason: 'HookFailed' });
    expect(JSON.stringify([status, await eventsOf(world, name)])).not.toContain('horse');
  });

  test('a disabled module has the status of one', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { modules: chartModule(name), config: {} }, [name]);
    const { world } = made;
    await world.converge();
    await untilStatus(world, name, { phase: 'Succeeded' });
    await world.putConfig({ [`${name}Enabled`]: 'false' });
    const object = await untilStatus(world, name, {
      enablement: { enabled: false, source: 'config-map' },
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', reason: 'Disabled' })]),
    });
    expect(object.status).not.toHaveProperty('release');
    expect(object.status).not.toHaveProperty('phase');
    await untilEvent(world, name, { reason: 'Disabled' });
  });

  test('a Module object that is deleted is created again, and deleted when its module is gone', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(
      backend(),
      { modules: chartModule(name), flags: { 'allow-empty-modules-dir': 'true' } },
      [name],
    );
    const { world } = made;
    await world.converge();
    const first = await untilStatus(world, name, { phase: 'Succeeded' });
    await world.expect({ method: 'DELETE', path: modulePath(name) });
    const second = await untilStatus(world, name, { phase: 'Succeeded' });
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await world.stop();
    await rm(join(world.directory, 'modules', `001-${name}`), { recursive: true });
    await world.converge();
    await vi.waitFor(async () => expect(await readModule(world, name)).toBeUndefined(), WAIT);
  });

  test('an object of another operator is never written, and status fields of others stay', async () => {
    const [own, foreign] = [uniqueName(), uniqueName()];
    await using made = await moduleWorld(
      backend(),
      { modules: { ...chartModule(own), ...chartModule(foreign), 'values.yaml': enabled(own, foreign) } },
      [own, foreign],
    );
    const { world } = made;
    await world.converge();
    await untilStatus(world, foreign, { phase: 'Succeeded' });
    await world.expect({
      method: 'PATCH',
      path: modulePath(foreign),
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { 'addon-operator.io/operator': 'other/addon-operator' } } },
    });
    const taken = await readModule(world, foreign);
    await world.expect({
      method: 'PATCH',
      path: `${modulePath(own)}/status?fieldManager=somebody`,
      contentType: 'application/merge-patch+json',
      body: { status: { endpoint: 'https://web', phase: 'Init' } },
    });
    await untilStatus(world, own, { phase: 'Succeeded', endpoint: 'https://web' });
    await world.putConfig({ [`${own}Enabled`]: 'false', [`${foreign}Enabled`]: 'false' });
    await untilStatus(world, own, { enablement: { enabled: false }, endpoint: 'https://web' });
    expect((await readModule(world, foreign))?.metadata.resourceVersion).toBe(
      taken?.metadata.resourceVersion,
    );
    const warnings = world.log.records.filter(({ msg }) => String(msg).startsWith('Module object belongs'));
    expect(warnings).toMatchObject([{ module: foreign, operator: 'other/addon-operator' }]);
  });
});

function enabled(...names: readonly string[]): string {
  return names.map((name) => `${name}Enabled: true\n`).join('');
}
