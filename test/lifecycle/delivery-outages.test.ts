import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeliveryWorld, expectNothingRemoved, runsIn } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { crane } from '../support/oci/client-programs.ts';
import { FaultRegistry, type RegistryFault } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;

describeRegistries('registries with faults', () => {
  describeLifecycle((backend) => {
    test('what a registry does wrong is in the status, and changes no release', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      const url = registry.url('platform');
      const first = await lab.push(url, name, '1.0.0');
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });
      const calls = (await world.helmCalls()).length;
      const mend = async (): Promise<void> => {
        await registry.setFaults();
        lab.passInterval();
        await lab.untilCondition('ModuleSource', name, 'Ready', 'True');
      };
      const fails = async (...faults: readonly RegistryFault[]): Promise<string> => {
        await registry.setFaults(...faults);
        lab.passInterval();
        return await lab.untilCondition('ModuleSource', name, 'Ready', 'False', 'SourceUnavailable');
      };

      expect(await fails({ path: '/v2/', status: 401 })).toMatch(/401.*nothing is changed/u);
      await mend();
      expect(await fails({ path: '/v2/', status: 503, body: 'overloaded' })).toContain('503');
      await mend();

      await registry.clearLog();
      const wait = await fails({ path: '/v2/', status: 429, headers: { 'Retry-After': '3600' } });
      expect(wait).toContain('429');
      for (let round = 0; round < 20; round += 1) lab.passInterval();
      await lab.untilCondition('ModuleInstall', name, 'SourceReady', 'False');
      expect((await registry.accessLog()).length).toBeLessThanOrEqual(2);
      await registry.setFaults();
      world.clock.jump(HOUR_MS);
      await lab.untilCondition('ModuleSource', name, 'Ready', 'True');

      // A new version whose content does not arrive.
      for (const [fault, reason] of [
        [{ cutAt: 10 }, 'SourceUnavailable'],
        [{ flipAt: 20 }, 'ArtifactInvalid'],
      ] as const) {
        const version = `1.0.${reason.length}`;
        await lab.push(url, name, version);
        const layer = await lab.layerOf(url, name, version);
        await registry.setFaults({ method: 'GET', path: `/blobs/${layer}`, ...fault });
        lab.passInterval();
        await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'True', reason);
        await lab.untilCondition('ModuleInstall', name, 'Ready', 'True');
        await lab.untilRuns(name, '1.0.0');
        await lab.push(url, name, '1.0.0');
        await mend();
        await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'False');
      }
      expect(await world.helmCalls()).toHaveLength(calls);

      // The list of tags, and a version tag.
      await lab.patch('ModuleInstall', name, { version: { channel: null, range: '1.0.0' } });
      await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'False');
      await registry.setFaults({ path: '/tags/list', body: '{"name":"x","tags":[]}' });
      lab.passInterval();
      await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'True', 'NotFound');
      await mend();
      await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'False');
      const other = await lab.push(url, name, '1.3.0', { channel: '' });
      const image = (reference: string): string => `${registry.host}/platform/${name}${reference}`;
      await crane(['tag', image(`@${other}`), '1.0.0'], signal);
      lab.passInterval();
      const changed = await lab.untilCondition(
        'ModuleInstall',
        name,
        'UpdatePending',
        'True',
        'VersionChanged',
      );
      expect(changed).toContain(first);
      expect(await world.helmCalls()).toHaveLength(calls);

      // A tag that moves between two requests: the digest counts that was seen first.
      const seen = await lab.push(url, name, '1.1.0', { channel: '' });
      await lab.push(url, name, '1.2.0', { channel: '' });
      await crane(['tag', image(`@${seen}`), 'next'], signal);
      await registry.setFaults({
        path: '/manifests/next$',
        times: 1,
        afterwards: {
          from: `/v2/platform/${name}/manifests/1.2.0`,
          to: `/v2/platform/${name}/manifests/next`,
        },
      });
      await lab.patch('ModuleInstall', name, { version: { range: null, channel: 'next' } });
      lab.passInterval();
      await lab.untilRuns(name, '1.1.0');
      await lab.untilObserved(name, { installed: { version: '1.2.0' } });
      await lab.untilRuns(name, '1.2.0');
      expect(await runsIn(world)).not.toMatch(/1\.3\.0|1\.0\.1[0-9]/u);
      await expectNothingRemoved(world);
    });

    test('without its registry an operator starts from its store, and without both from the backup', async () => {
      const name = uniqueName();
      await using stack = new AsyncDisposableStack();
      const registry = await FaultRegistry.start(signal);
      stack.defer(() => registry[Symbol.asyncDispose]());
      await using lab = await DeliveryWorld.create(backend(), [name]);
      const { world } = lab;
      const url = registry.url('platform');
      const digest = await lab.push(url, name, '1.0.0');
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { digest } });
      await world.stop();
      await stack.disposeAsync();

      for (const isStoreLost of [false, true]) {
        if (isStoreLost) await rm(join(world.directory, 'store'), { recursive: true });
        const runs = (await runsIn(world)).length;
        await world.converge();
        expect((await runsIn(world)).slice(runs)).toContain('1.0.0 onStartup');
        await lab.untilRuns(name, '1.0.0');
        lab.passInterval();
        await lab.untilCondition('ModuleSource', name, 'Ready', 'False', 'SourceUnavailable');
        await lab.untilCondition('ModuleInstall', name, 'Ready', 'True');
        await world.stop();
      }

      // Another registry at its place has nothing, and then a new version.
      await using again = await FaultRegistry.start(signal, { port: Number(registry.host.split(':')[1]) });
      await world.converge();
      await lab.untilCondition('ModuleInstall', name, 'UpdatePending', 'True', 'NotFound');
      await lab.untilRuns(name, '1.0.0');
      await lab.push(again.url('platform'), name, '1.0.1');
      lab.passInterval();
      await lab.untilRuns(name, '1.0.1');
      await expectNothingRemoved(world);
    });
  });
});
