import { readFile } from 'node:fs/promises';
import { systemClock } from '@addon-operator/base/clock';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { requestDebug } from '../../../src/server/debug-client.ts';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend, World } from '../../support/world.ts';
import { exampleWorld, read, remove, SOON } from '../example-world.ts';
import { cataloguePath, DirectoryCopy, failures, requireTools } from './catalogue-world.ts';

const DAEMON_SET = '/apis/apps/v1/namespaces/kube-system/daemonsets/sysctl-tuner';

export function sysctlTunerTests(backend: () => Backend): void {
  test('101-module-sysctl-tuner: hooks run around helm, and the ConfigMap switches the module off and on, twice', async (context) => {
    requireTools(context, 'bash', 'jq');
    const { world, config } = await sysctlWorld(backend(), '101-module-sysctl-tuner');
    await using _ = world;
    try {
      await world.converge();
      expect(around(world, 'sysctl-tuner')).toEqual(['beforeHelm', 'helm upgrade', 'afterHelm']);
      expect(await releases(world)).toBeGreaterThan(0);
      expect(await read(world, DAEMON_SET)).toBeDefined();
      for (const cycle of [1, 2]) {
        await world.putConfig({ ...config, sysctlTunerEnabled: 'false' });
        await world.log.untilPrinted("Run 'afterDeleteHelm' hook for sysctl-tuner", cycle);
        await expect.poll(() => read(world, DAEMON_SET), SOON).toBeUndefined();
        expect(await releases(world)).toBe(0);
        await world.putConfig({ ...config, sysctlTunerEnabled: 'true' });
        await world.log.untilPrinted("Run 'afterHelm' hook for sysctl-tuner", cycle + 1);
        expect(await read(world, DAEMON_SET)).toBeDefined();
      }
    } finally {
      await remove(world, DAEMON_SET);
    }
  });

  test('101-module-sysctl-tuner: with a removed API version helm is retried', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using modules = await DirectoryCopy.of(cataloguePath('101-module-sysctl-tuner', 'modules'));
    await modules.replace('001-sysctl-tuner/templates/daemon-set.yaml', 'apps/v1', 'extensions/v1beta1');
    const { world } = await sysctlWorld(backend(), '101-module-sysctl-tuner', modules.path);
    await using _ = world;
    await world.start();
    const text = 'no matches for kind \\"DaemonSet\\" in version \\"extensions/v1beta1';
    const delays = await failures(world, 3, text);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
    await world.log.untilPrinted("Run 'beforeHelm' hook for sysctl-tuner", 4);
    expect(world.log.printed).toEqual(Array(4).fill("Run 'beforeHelm' hook for sysctl-tuner"));
  });

  test(
    '201-sysctl-tuner-values: the ConfigMap adds to the values of the module and overrides them',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash', 'jq');
      const { world, config } = await sysctlWorld(backend(), '201-sysctl-tuner-values');
      await using _ = world;
      try {
        await world.converge();
        expect(around(world, 'sysctl-tuner module')).toEqual(['beforeHelm', 'helm upgrade', 'afterHelm']);
        expect(await command(world)).toEqual([...PARAMS.map((one) => `sysctl -w ${one}`), 'sleep 300']);
        expect(await debug(world, 'values')).toMatchObject({ params: { ...OURS, ...THEIRS }, sleep: '300' });
        expect(await debug(world, 'config')).toEqual({ params: THEIRS, sleep: '300' });

        const changed = { ...config, sysctlTuner: String(config['sysctlTuner']).replace('"300"', '"900"') };
        await world.putConfig(changed);
        await expect.poll(async () => (await command(world)).at(-1), SOON).toBe('sleep 900');
        await world.log.untilMessage('ModuleRun success, module is ready', 2);
        expect(around(world, 'sysctl-tuner module').filter((step) => step === 'helm upgrade')).toHaveLength(
          2,
        );

        await world.putConfig({ ...changed, sysctlTunerEnabled: 'false' });
        await world.log.untilPrinted("Run 'afterDeleteHelm' hook for sysctl-tuner module");
        await expect.poll(() => read(world, DAEMON_SET), SOON).toBeUndefined();
      } finally {
        await remove(world, DAEMON_SET);
      }
    },
  );
}

const OURS = { 'vm.swappiness': '0', 'kernel.numa_balancing': 0, 'net.core.somaxconn': 1000 };
const THEIRS = {
  'vm.swappiness': '0',
  'kernel.num_balancing': '0',
  'net.core.netdev_max_backlog': '5000',
  'net.core.rmem_max': '16777216',
  'net.core.wmem_max': '16777216',
};
const PARAMS = [
  'kernel.num_balancing=0',
  'kernel.numa_balancing=0',
  'net.core.netdev_max_backlog=5000',
  'net.core.rmem_max=16777216',
  'net.core.somaxconn=1000',
  'net.core.wmem_max=16777216',
  'vm.swappiness=0',
];

type Config = Readonly<Record<string, string>>;

async function sysctlWorld(
  backend: Backend,
  name: string,
  modules = cataloguePath(name, 'modules'),
): Promise<{ readonly world: World; readonly config: Config }> {
  const text = await readFile(cataloguePath(name, 'addon-operator-cm.yaml'), 'utf8');
  const { data: config } = load(text) as { readonly data: Config };
  const options = { config, directories: { modules } };
  return { config, world: await exampleWorld(backend, `catalogue/${name}`, options) };
}

/** Bindings of the hook and helm upgrades, as the log has them. */
function around({ log }: World, subject: string): string[] {
  return log.records.flatMap(({ msg, output }) => {
    const binding = /^Run '(\w+)' hook for (.*)$/.exec(String(msg));
    if (output === 'stdout' && binding?.[2] === subject) return [binding[1] ?? ''];
    return String(msg).startsWith('Running helm upgrade') ? ['helm upgrade'] : [];
  });
}

/** How many revisions of the release the cluster keeps. */
async function releases(world: World): Promise<number> {
  const query = '?labelSelector=owner%3Dhelm%2Cname%3Dsysctl-tuner';
  const body = await world.expect({ path: `${world.path('secrets')}${query}` });
  return (body as { readonly items: readonly unknown[] }).items.length;
}

/** The commands in the loop of the container. */
async function command(world: World): Promise<string[]> {
  const object = (await read(world, DAEMON_SET)) as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly [{ command: string[] }] } };
    };
  };
  const lines = object.spec.template.spec.containers[0].command.at(-1)?.split('\n') ?? [];
  return lines.map((line) => line.trim()).filter((line) => /^(?:sysctl|sleep) /.test(line));
}

/** The section of the module as the debug socket shows it. */
async function debug(world: World, what: 'values' | 'config'): Promise<unknown> {
  const path = `/module/sysctl-tuner/${what}.json`;
  const { body } = await requestDebug(
    { socketPath: String(world.flags['debug-unix-socket']), path },
    systemClock,
  );
  return JSON.parse(body) as unknown;
}
