import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

/** What the version before left in its namespace with {@link MODULES}: config values, releases, and a pause of `dns`. */
const OBJECTS = join(import.meta.dirname, '../support/version-before/objects.json');
/** Digests of releases hold the namespace. */
const NAMESPACE = 'state-before';
const WAIT = { timeout: 60_000, interval: 100 };
const SAVED = `echo '[{"op":"add","path":"/web/saved","value":"by a hook"}]' > $CONFIG_VALUES_JSON_PATCH_PATH`;

const MODULES = {
  'values.yaml': 'webEnabled: true\ndnsEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
  '001-web/values.yaml': 'web: {color: green}\n',
  '001-web/hooks/save.sh': shHook('beforeHelm: 1', SAVED),
  ...under('002-dns', configMapChart('dns', 'dns')),
  '002-dns/values.yaml': 'dns: {zone: cluster.local}\n',
  '002-dns/hooks/hook.sh': announcer('dns', { beforeHelm: 1 }),
};

interface KubeObject {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
}

async function dataOf(world: World, name: string): Promise<unknown> {
  return (await world.get('configmaps', name))?.['data'];
}

describeLifecycle((backend) => {
  test('config values, releases and pauses of the previous version are kept unchanged', async () => {
    const objects = JSON.parse(await readFile(OBJECTS, 'utf8')) as readonly KubeObject[];
    await using world = await World.create(backend(), { namespace: NAMESPACE, modules: MODULES });
    for (const object of objects) {
      await world.create(object.kind === 'Secret' ? 'secrets' : 'configmaps', object);
    }
    await world.converge();
    const upgrades = async () => (await world.helmCalls()).filter((call) => call.startsWith('upgrade'));
    expect(await upgrades()).toEqual([]);
    for (const { metadata, data } of objects.filter(({ kind }) => kind === 'ConfigMap'))
      expect(await dataOf(world, metadata.name)).toEqual(data);
    expect(world.log.printed.filter((line) => line.startsWith('dns '))).toEqual([]);
    const socketPath = `${world.directory}/debug.socket`;
    const ask = (path: string, form?: Readonly<Record<string, string>>) =>
      requestDebug({ socketPath, path, ...(form === undefined ? {} : { form }) }, systemClock);
    const explained = JSON.parse((await ask('/module/dns/explain.json')).body) as unknown;
    expect(explained).toMatchObject({ status: 'paused', pause: { reason: 'moving disks', until: null } });
    expect((await ask('/module/dns/resume', {})).status).toBe(200);
    await world.log.untilPrinted('dns beforeHelm', 1);
    await world.putConfig({ web: 'saved: by a hook\nsize: 3\n' });
    await vi.waitFor(
      async () => expect(await upgrades()).toEqual([expect.stringContaining(' -- web ')]),
      WAIT,
    );
  });
});
