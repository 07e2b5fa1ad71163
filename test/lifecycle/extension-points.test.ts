import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explain, extend, host, MODULES, ONLY_NEXT, worldOf } from '../support/extension-world.ts';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

/** The server refuses it: capital letters and spaces are no name. */
const REFUSED = `apiVersion: v1
kind: ConfigMap
metadata: {name: "Not A Name"}
`;
const REFUSING = { ...MODULES, '001-web/templates/refused.yaml': REFUSED };

async function say(world: World, name: string): Promise<void> {
  await mkdir(join(world.directory, name));
}

/** What people would see of a release: its revisions and the data and labels of its ConfigMap. */
async function shape(world: World, module: string): Promise<unknown> {
  const object = await world.get('configmaps', module);
  const { labels } = (object?.['metadata'] ?? {}) as { labels?: unknown };
  const list = (await world.expect({
    path: `${world.path('secrets')}?labelSelector=owner%3Dhelm,name%3D${module}`,
  })) as { items: { metadata: { labels: Record<string, string> } }[] };
  const records = list.items.map(({ metadata }) => [
    metadata.labels['version'],
    metadata.labels['status'],
    metadata.labels['moduleChecksum'],
  ]);
  return { data: object?.['data'], labels, records };
}

function messages(world: World): unknown[] {
  return world.log.records.map((record) => record['msg']);
}

const NEXT_RUN = 'ModuleRun success, module is ready';

/** Extensions of one kind, on a daemon with real helm. */
describeLifecycle((backend) => {
  describe('an extension of a kind', () => {
    test('changes manifests before they are applied, of its kind only, and nothing is applied twice for it', async () => {
      const body = `const object = await next(input);
    return { ...object, data: { ...object.data, by: apiVersion } };`;
      await using world = await worldOf(backend(), { 'core/configmap.ts': host('modifyManifest', body) });
      await world.converge();
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { by: 'v1' } });
      await world.stop();
      await world.converge();
      expect((await shape(world, 'web')) as { records: unknown[] }).toMatchObject({
        records: [['1', 'deployed', expect.anything()]],
      });
      await world.stop();
      await rm(join(world.directory, 'customizations'), { recursive: true });
      await world.converge();
      expect((await world.get('configmaps', 'web'))?.['data']).not.toHaveProperty('by');
    });

    test('decides when a module is ready', async () => {
      const body =
        "return isThere('go') || input.metadata.name !== 'web' ? next(input) : notReady('warming up ' + input.metadata.uid.length, 7_000);";
      await using world = await worldOf(backend(), { 'core/configmap.ts': host('postReconcileCheck', body) });
      await world.start();
      expect(await world.untilDelayed()).toBe(7_000);
      expect(await world.get('configmaps', 'web')).toBeDefined();
      expect(await explain(world, 'web')).toMatchObject({
        failure: {
          error: `Objects are applied, but not ready: ${world.namespace}/ConfigMap/web: warming up 36`,
        },
      });
      expect(world.log.printed).not.toContain('web afterHelm');
      await say(world, 'go');
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(world.log.printed).toContain('web afterHelm');
      expect((await world.helmCalls()).filter((call) => call.startsWith('upgrade'))).toHaveLength(2);
    });

    test('is not needed for a module that waits until all its objects are ready by their status', async () => {
      const group = `g${Math.random().toString(36).slice(2, 10)}.example.com`;
      const gadget = `apiVersion: ${group}/v1
kind: Gadget
metadata: {name: web}
status: {conditions: [{type: Ready, status: "False", reason: Winding}]}
`;
      await using world = await World.create(backend(), {
        modules: {
          ...MODULES,
          // JSON is YAML.
          '001-web/crds/gadget.yaml': JSON.stringify(gadgetDefinition(group)),
          '001-web/templates/gadget.yaml': gadget,
          '001-web/module.yaml': 'waitUntilReady: true\n',
        },
      });
      const path = `/apis/${group}/v1/namespaces/${world.namespace}/gadgets/web`;
      await world.start();
      expect(await world.untilDelayed()).toBe(10_000);
      expect(await explain(world, 'web')).toMatchObject({
        failure: {
          error: 'Objects are applied, but not ready: /Gadget/web: its condition Ready is False: Winding',
        },
      });
      await world.expect({
        method: 'PATCH',
        path,
        body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
        contentType: 'application/merge-patch+json',
      });
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(world.log.printed).toEqual([
        'web onStartup',
        'web beforeHelm',
        'web beforeHelm',
        'web afterHelm',
      ]);
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await world.expect({ method: 'DELETE', path: `${definitions}/gadgets.${group}` });
    });

    test('deletes objects itself, or lets helm delete them, also when the module is gone', async () => {
      const body =
        "if (input.metadata.name === 'web') await next(input); else log.info('keeping ' + input.metadata.name);";
      await using world = await worldOf(
        backend(),
        { 'core/configmap.ts': host('delete', body) },
        {
          modules: {
            ...MODULES,
            ...under('003-gone', configMapChart('gone', 'gone')),
            'values.yaml': `${MODULES['values.yaml']}goneEnabled: true\n`,
          },
        },
      );
      await world.converge();
      await world.stop();
      await world.write('modules', { 'values.yaml': '' });
      await rm(join(world.directory, 'modules/003-gone'), { recursive: true });
      await world.converge();
      await world.log.untilMessage('Release without a module is removed');
      const left = await Promise.all(['web', 'db', 'gone'].map((name) => world.get('configmaps', name)));
      expect(left.map((object) => object !== undefined)).toEqual([false, true, true]);
      expect(messages(world)).toEqual(expect.arrayContaining(['keeping db', 'keeping gone']));
      expect(await shape(world, 'db')).toMatchObject({ records: [] });
    });

    test('is called for objects that were applied for the first time, once', async () => {
      const body = "log.info('welcome ' + input.metadata.name + ' ' + apiVersion);";
      await using world = await worldOf(backend(), { 'core/configmap.ts': host('onSuccess', body) });
      await world.converge();
      await world.putConfig({ web: 'a: 1\n' });
      await world.log.untilMessage(NEXT_RUN, 3);
      await world.stop();
      await world.converge();
      expect(messages(world).filter((text) => String(text).startsWith('welcome '))).toEqual([
        'welcome web v1',
        'welcome db v1',
      ]);
    });

    test('makes an error fatal: the module is stalled, tasks behind it continue, and a change runs it again', async () => {
      const body =
        "return { ...(await next(input)), classification: 'fatal', code: input.reason, message: 'rename it' };";
      await using world = await worldOf(
        backend(),
        { 'core/configmap.ts': host('classifyError', body) },
        { modules: REFUSING, config: {} },
      );
      await world.converge();
      expect(await world.get('configmaps', 'db')).toBeDefined();
      expect(await explain(world, 'web')).toMatchObject({
        failure: {
          error: expect.stringMatching(
            /^Cannot deploy release "web": .*Not A Name.*\(fatal: Invalid: rename it\)$/s,
          ),
        },
      });
      expect((await world.helmCalls()).filter((call) => call.startsWith('upgrade'))).toHaveLength(2);
      await rm(join(world.directory, 'modules/001-web/templates/refused.yaml'));
      await world.putConfig({ web: 'a: 1\n' });
      await world.log.untilMessage(NEXT_RUN, 2);
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('also classifies problems found before helm applies, such as fields of other managers', async () => {
      const body =
        "return input.reason === 'Conflict' ? errorDetails('fatal', 'Edited', 'ask who did it') : next(input);";
      await using world = await worldOf(
        backend(),
        { 'core/configmap.ts': host('classifyError', body) },
        { modules: { ...MODULES, '001-web/module.yaml': 'conflicts: fail\n' }, config: {} },
      );
      await world.converge();
      await world.expect({
        method: 'PATCH',
        path: `${world.path('configmaps', 'web')}?fieldManager=somebody`,
        body: { data: { values: 'mine' } },
        contentType: 'application/merge-patch+json',
      });
      await world.putConfig({ web: 'a: 1\n' });
      await world.log.until((records) =>
        records.some(({ msg }) => String(msg).startsWith('ModuleRun failed')),
      );
      expect(await explain(world, 'web')).toMatchObject({
        failure: { isGivenUp: true, error: expect.stringMatching(/\(fatal: Edited: ask who did it\)$/) },
      });
    });
  });
});

describeApiIndependent((backend) => {
  describe('an extension of a kind', () => {
    test('that only calls the default behaviour changes nothing, neither in the first deployment nor later', async () => {
      const flags = { 'drift-mode': 'off' };
      await using plain = await World.create(backend(), { modules: MODULES, flags });
      await plain.converge();
      const before = await shape(plain, 'web');
      await plain.stop();
      await extend(plain, { 'core/config-map.ts': ONLY_NEXT });
      await plain.converge();
      expect(await shape(plain, 'web')).toEqual(before);
      await using extended = await worldOf(backend(), { 'core/config-map.ts': ONLY_NEXT }, { flags });
      await extended.converge();
      const asText = (value: unknown, world: World): string =>
        JSON.stringify(value).replaceAll(world.namespace, 'NAMESPACE');
      const fresh = await shape(extended, 'web');
      // The checksum covers the namespace, which is another one.
      const withoutChecksum = (text: string): string => text.replace(/[0-9a-f]{32}/, 'CHECKSUM');
      expect(withoutChecksum(asText(fresh, extended))).toBe(withoutChecksum(asText(before, plain)));
      await extended.write('modules', { 'values.yaml': 'webEnabled: true\ndbEnabled: false\n' });
      await extended.stop();
      await extended.converge();
      expect(await extended.get('configmaps', 'db')).toBeUndefined();
    });

    test('of a module applies to its objects only, and is called before the operator-wide one', async () => {
      const adding = (key: string): string =>
        host(
          'modifyManifest',
          `const object = await next(input);
    return { ...object, data: { ...object.data, order: (object.data.order ?? '') + '${key}' } };`,
        );
      await using world = await worldOf(
        backend(),
        { 'core/configmap.mjs': adding('wide ') },
        { modules: { ...MODULES, '001-web/customizations/core/config-map.mts': adding('own') } },
      );
      await world.converge();
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { order: 'wide own' } });
      expect(await world.get('configmaps', 'db')).toMatchObject({ data: { order: 'wide ' } });
    });

    test('blocks a module before anything is applied, and tasks behind it wait', async () => {
      const body =
        "return isThere('go') ? next(input) : input.metadata.name === 'web' ? block('no power', 45_000) : proceed();";
      await using world = await worldOf(backend(), { 'core/configmap.ts': host('preReconcileCheck', body) });
      await world.start();
      expect(await world.untilDelayed()).toBe(45_000);
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      expect(await explain(world, 'web')).toMatchObject({
        status: 'failing',
        failure: { error: `Nothing is applied yet: ConfigMap "${world.namespace}/web": no power` },
      });
      expect(messages(world)).not.toContain('ModuleRun failed. Requeue task to retry after delay.');
      await say(world, 'go');
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await world.get('configmaps', 'web')).toBeDefined();
      expect(world.log.printed).toEqual([
        'web onStartup',
        'web beforeHelm',
        'web beforeHelm',
        'web afterHelm',
      ]);
    });

    test('that blocks a module does not block others with module-failure-policy isolate', async () => {
      const body =
        "return isThere('go') || input.metadata.name !== 'web' ? next(input) : block('no power', 45_000);";
      await using world = await worldOf(
        backend(),
        { 'core/configmap.ts': host('preReconcileCheck', body) },
        { flags: { 'module-failure-policy': 'isolate' } },
      );
      await world.converge();
      expect(await world.get('configmaps', 'db')).toBeDefined();
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      expect(world.log.records.filter(({ level }) => level === 'error')).toEqual([]);
      await say(world, 'go');
      expect(await world.passDelay('isolated_web')).toBe(45_000);
      await world.log.untilMessage(NEXT_RUN, 2);
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('makes an error retryable for its kind that is fatal with fatal-deploy-errors stop', async () => {
      const stop = { flags: { 'fatal-deploy-errors': 'stop' }, modules: REFUSING };
      await using world = await worldOf(backend(), {}, stop);
      await world.converge();
      expect(await explain(world, 'web')).toMatchObject({
        failure: { error: expect.stringMatching(/\(fatal: Invalid\)$/) },
      });
      await world.stop();
      const body = "const details = await next(input);\nreturn { ...details, classification: 'retryable' };";
      await extend(world, { 'core/configmap.ts': host('classifyError', body) });
      await world.start();
      expect(await world.untilDelayed()).toBe(5_000);
      expect(await explain(world, 'web')).toMatchObject({
        failure: { error: expect.not.stringMatching(/fatal/) },
      });
    });
  });
});
