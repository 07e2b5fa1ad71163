import { expect, test } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import { untilTasks } from '../support/until-tasks.ts';
import type { Backend, World } from '../support/world.ts';
import { read, remove, SOON, starterWorld } from './example-world.ts';

export function starterTests(backend: () => Backend): void {
  test('starter modules: everything is deployed, with facts about the cluster in the chart', async () => {
    await using world = await starterWorld(backend());
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['namespace-defaults', 'config-reloader', 'web']);
    expect(await deployment(world)).toMatchObject({ spec: { replicas: 2 } });
    expect(await world.get('services', 'web')).toBeDefined();
    const page = await world.get('configmaps', 'web-page');
    expect(page).toMatchObject({
      data: { 'index.html': expect.stringContaining('<h1>Hello from addon-operator</h1>') },
    });
    const facts = await world.get('configmaps', 'web-facts');
    expect(facts).toMatchObject({ data: { 'facts.json': expect.stringMatching(/"namespaces":[1-9]/) } });
    expect(world.log.records.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);

    // A jump ends requests in progress.
    await untilTasks(world, 'main', 0);
    world.clock.jump(60_000);
    await expect.poll(() => scrapeHooks(world), SOON).toContain('heartbeat_timestamp_seconds');
  });

  test('starter modules: a labelled namespace has its defaults, as the values say, until the module is disabled', async () => {
    await using world = await starterWorld(backend());
    await world.converge();
    const namespace = `${world.namespace}-team`;
    const path = `/api/v1/namespaces/${namespace}`;
    const limits = () => read(world, `${path}/limitranges/namespace-defaults`);
    const policy = () => read(world, policyPath(namespace));
    try {
      const metadata = { name: namespace, labels: { 'namespace-defaults': 'yes' } };
      await world.expect({ method: 'POST', path: '/api/v1/namespaces', body: { metadata } });
      await expect.poll(limits, SOON).toMatchObject({ spec: { limits: [{ default: { memory: '256Mi' } }] } });
      await expect.poll(policy, SOON).toMatchObject({ spec: { policyTypes: ['Ingress'] } });

      await remove(world, policyPath(namespace));
      await expect.poll(policy, SOON).toBeDefined();

      await world.putConfig({ namespaceDefaults: 'networkPolicy: null\n' });
      await expect.poll(policy, SOON).toBeUndefined();

      await label(world, path, null);
      await expect.poll(limits, SOON).toBeUndefined();
      await label(world, path, 'yes');
      await expect.poll(limits, SOON).toBeDefined();

      await world.putConfig({ namespaceDefaultsEnabled: 'false' });
      await expect.poll(limits, SOON).toBeUndefined();
    } finally {
      await remove(world, path);
    }
  });

  test('starter modules: a changed ConfigMap restarts the workload that names it, once', async () => {
    await using world = await starterWorld(backend());
    await world.converge();
    await expect.poll(() => annotations(world), SOON).toHaveProperty(CHECKSUM);
    expect(await templateAnnotations(world)).not.toHaveProperty(CHECKSUM);
    await world.putConfig({ web: 'message: Good morning\n' });
    await expect.poll(() => templateAnnotations(world), SOON).toHaveProperty(CHECKSUM);
    const page = await world.get('configmaps', 'web-page');
    expect(page).toMatchObject({ data: { 'index.html': expect.stringContaining('<h1>Good morning</h1>') } });
    const restarts = world.log.printed.filter((line) => line.startsWith('restarting'));
    expect(restarts).toEqual([`restarting Deployment ${world.namespace}/web`]);
  });

  test(
    'starter modules: with the minimal profile the module web is disabled with a reason, and enabled again',
    apiIndependent,
    async () => {
      await using world = await starterWorld(backend());
      await world.converge();
      await world.putConfig({ global: 'profile: minimal\n' });
      await expect.poll(() => deployment(world), SOON).toBeUndefined();
      expect(world.log.dump()).toContain('global.profile is minimal');
      await world.putConfig({});
      await expect.poll(() => deployment(world), SOON).toBeDefined();
    },
  );

  test('starter modules: new facts about the cluster reload the modules within five minutes', async () => {
    await using world = await starterWorld(backend());
    await world.converge();
    const node = `/api/v1/nodes/${world.namespace}`;
    try {
      const body = { metadata: { name: world.namespace } };
      await world.expect({ method: 'POST', path: '/api/v1/nodes', body });
      await expect
        .poll(
          () => {
            // The first tick may come before the hook's snapshot has the node. A jump ends requests in progress.
            if (world.daemon.operator.queues.all.every(({ length }) => length === 0))
              world.clock.jump(300_000);
            return world.get('configmaps', 'web-facts');
          },
          { ...SOON, interval: 500 },
        )
        .toMatchObject({ data: { 'facts.json': expect.stringMatching(/"nodes":[1-9]/) } });
      // The converge that has written it goes on a little longer.
      await world.log.untilMessage('ConvergeModules task done', 2);
    } finally {
      await remove(world, node);
    }
  });
}

const CHECKSUM = ['config-reloader/checksum'];

function policyPath(namespace: string): string {
  return `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/namespace-defaults`;
}

function deployment(world: World): Promise<unknown> {
  return read(world, `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`);
}

async function annotations(world: World): Promise<unknown> {
  const object = (await deployment(world)) as { readonly metadata: { readonly annotations?: unknown } };
  return object.metadata.annotations ?? {};
}

async function templateAnnotations(world: World): Promise<unknown> {
  const object = (await deployment(world)) as {
    readonly spec: { readonly template: { readonly metadata: { readonly annotations?: unknown } } };
  };
  return object.spec.template.metadata.annotations ?? {};
}

async function label(world: World, path: string, value: string | null): Promise<void> {
  const body = { metadata: { labels: { 'namespace-defaults': value } } };
  await world.expect({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
}

async function scrapeHooks(world: World): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics/hooks`);
  return response.text();
}
