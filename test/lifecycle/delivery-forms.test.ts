import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { DeliveryWorld, INTERVAL_MS } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { ACCOUNTS, dockerConfigFor } from '../support/oci/accounts.ts';
import { crane, oras } from '../support/oci/client-programs.ts';
import { DistributionRegistry } from '../support/oci/distribution-registry.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { versionTree } from '../support/store/store-world.ts';
import { runInWorld } from '../support/world-command.ts';
import { writeTree } from '../support/world-files.ts';

const { signal } = new AbortController();
const OWN = 'application/vnd.addon-operator.module';
const FLUX = 'application/vnd.cncf.flux';

describeRegistries('forms of modules in registries', () => {
  describeLifecycle((backend) => {
    test('what crane, oras and helm push is installed, from a mirror too, and equal files have one digest', async () => {
      const names = [uniqueName(), uniqueName(), uniqueName(), uniqueName()] as const;
      const [own, copied, flux, chart] = names;
      await using registry = await FaultRegistry.start(signal);
      await using lab = await DeliveryWorld.create(backend(), names, {
        config: { [`${chart}Enabled`]: 'true' },
      });
      const { world } = lab;
      const { directory } = world;
      const url = registry.url('platform');
      const digest = await lab.push(url, own, '1.0.0');
      expect(await lab.push(url, own, '1.0.0')).toBe(digest);
      const image = (name: string): string => `${registry.host}/platform/${name}:1.0.0`;
      expect((await crane(['digest', image(own)], signal)).trim()).toBe(digest);

      // The own form by oras, then copied by crane; the form of Flux by oras; a chart by helm.
      const pack = async (name: string): Promise<string> => {
        await writeTree(join(directory, 'packed', name), versionTree(name, '1.0.0'));
        await execa('tar', ['-czf', `${name}.tgz`, '-C', join('packed', name), '.'], { cwd: directory });
        return `${name}.tgz`;
      };
      const config = join(directory, 'config.json');
      await writeFile(config, JSON.stringify({ name: copied, version: '1.0.0' }));
      await oras(
        [
          'push',
          `${registry.host}/first/${copied}:1.0.0`,
          `${await pack(copied)}:${OWN}.content.v1.tar+gzip`,
          '--config',
          `config.json:${OWN}.config.v1+json`,
        ],
        signal,
        { cwd: directory },
      );
      await crane(['copy', `${registry.host}/first/${copied}:1.0.0`, image(copied)], signal);
      await writeFile(join(directory, 'flux.json'), '{}');
      await oras(
        [
          'push',
          image(flux),
          `${await pack(flux)}:${FLUX}.content.v1.tar+gzip`,
          '--config',
          `flux.json:${FLUX}.config.v1+json`,
        ],
        signal,
        { cwd: directory },
      );
      const tree = versionTree(chart, '1.0.0');
      await writeTree(join(directory, 'charts', chart), {
        'Chart.yaml': tree['Chart.yaml'] ?? '',
        'values.yaml': `${chart}: {hook: 1.0.0}\n`,
        'templates/config-map.yaml': tree['templates/config-map.yaml'] ?? '',
      });
      const helm = async (...args: readonly string[]): Promise<void> => {
        await execa(world.backend.helmPath, args, { cwd: directory, env: { HOME: directory } });
      };
      await helm('package', join('charts', chart));
      await helm('push', `${chart}-1.0.0.tgz`, url);

      await using mirror = await FaultRegistry.start(signal);
      for (const name of names)
        await lab.succeed('module', 'mirror', `${url}/${name}`, `${mirror.url('inside')}/${name}`, '--all');
      await registry[Symbol.asyncDispose]();
      await world.converge();
      await lab.create('ModuleSource', own, { url: mirror.url('inside'), interval: '10s' });
      for (const name of names)
        await lab.create('ModuleInstall', name, { source: own, version: { exact: '1.0.0' } });
      for (const name of names) {
        await lab.untilRuns(name, '1.0.0');
        await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });
        await lab.untilCondition('ModuleInstall', name, 'Ready', 'True');
      }
      expect(await lab.status('ModuleInstall', own)).toMatchObject({ installed: { digest } });
    });

    test('documents of a file are followed, with an account that nothing shows', async () => {
      const name = uniqueName();
      const { password } = ACCOUNTS.alice;
      await using registry = await DistributionRegistry.start(signal, { auth: 'token' });
      const documents = (source: string, version: string): string =>
        [
          [
            'ModuleSource',
            { url: registry.url('alice'), interval: '10s', auth: { secretRef: { name: source } } },
          ],
          ['ModuleInstall', { source: name, version: { exact: version } }],
        ]
          .map(([kind, spec]) =>
            JSON.stringify({ apiVersion: 'addon-operator.io/v1alpha1', kind, metadata: { name }, spec }),
          )
          .join('\n---\n');
      await using lab = await DeliveryWorld.create(backend(), [name], {
        env: (directory) => ({
          ADDON_OPERATOR_MODULE_STORE: join(directory, 'store'),
          ADDON_OPERATOR_MODULE_SOURCES: join(directory, 'sources.yaml'),
        }),
      });
      const { world } = lab;
      const { directory } = world;
      await mkdir(join(directory, '.docker'));
      await writeFile(join(directory, '.docker/config.json'), dockerConfigFor(registry.host, 'alice'));
      for (const version of ['1.0.0', '1.1.0']) await lab.push(registry.url('alice'), name, version);
      for (const account of ['alice', 'bob'] as const)
        await world.create('secrets', {
          metadata: { name: account },
          type: 'kubernetes.io/dockerconfigjson',
          stringData: { '.dockerconfigjson': dockerConfigFor(registry.host, account) },
        } as never);
      await writeFile(join(directory, 'sources.yaml'), documents('alice', '1.0.0'));
      await world.converge();
      await lab.untilRuns(name, '1.0.0');
      await writeFile(join(directory, 'sources.yaml'), documents('bob', '1.1.0'));
      lab.passInterval();
      const untilShown = async (text: string): Promise<void> => {
        await vi.waitFor(
          async () => {
            lab.passWhileIdle(INTERVAL_MS);
            expect(await versions()).toContain(text);
          },
          { timeout: 60_000, interval: 200 },
        );
      };
      const versions = async (): Promise<string> =>
        (await runInWorld(world, 'module', 'versions', name)).stdout;
      await untilShown('problem');
      await writeFile(join(directory, 'sources.yaml'), documents('alice', '1.1.0'));
      await untilShown('installed  1.1.0');
      await lab.untilRuns(name, '1.1.0');
      const { body } = await requestDebug(
        { socketPath: join(directory, 'debug.socket'), path: '/delivery.json' },
        systemClock,
      );
      const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
      const status = await runInWorld(world, 'status');
      const shown = [await versions(), body, await metrics.text(), status.stdout, world.log.dump()].join(
        '\n',
      );
      expect(shown).toContain(`module_source_last_success_timestamp_seconds{source="${name}"}`);
      for (const secret of [password, ACCOUNTS.bob.password, 'eyJ']) expect(shown).not.toContain(secret);
    });
  });
});
