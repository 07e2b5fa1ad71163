import { expect, test } from 'vitest';
import { projectRoot } from '../../checks/checkout.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import type { Backend, World } from '../../support/world.ts';
import { read, remove, SOON } from '../example-world.ts';
import { manifest } from './105-crd-simple.ts';
import { hookSetWorld, mergeAt, requireTools, withDefinition } from './catalogue-world.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';

/** For the control plane alone: the sandbox calls no webhooks. */
export function webhookTests(backend: () => Backend): void {
  test('204-validating-webhook: only images of the allowed repository are accepted, also in updates', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using scene = await webhookWorld(backend(), '204-validating-webhook');
    const { world } = scene;
    await mergeAt(world, `/api/v1/namespaces/${world.namespace}`, {
      metadata: { labels: { name: 'example-204' } },
    });
    await withDefinition(world, await manifest('204-validating-webhook', 'crd.yaml'), async () => {
      await world.converge();
      const bad = await manifest('204-validating-webhook', 'crontab-non-valid.yaml');
      const denial = expect.stringContaining('Only images from repo.example.com are allowed');
      // The API server takes a moment to learn of webhooks.
      await expect
        .poll(
          () => world.backend.request({ method: 'POST', path: `${cronTabs(world)}?dryRun=All`, body: bad }),
          SOON,
        )
        .toMatchObject({ status: 403, body: { message: denial } });
      const good = await manifest('204-validating-webhook', 'crontab-valid.yaml');
      await world.expect({ method: 'POST', path: cronTabs(world), body: good });
      await world.log.untilPrinted('Got image: repo.example.com/cron:v1');
      const change = await world.backend.request({
        method: 'PATCH',
        path: `${cronTabs(world)}/crontab-valid`,
        body: { spec: { image: 'docker.io/cron:v2' } },
        contentType: 'application/merge-patch+json',
      });
      expect(change).toMatchObject({ status: 403, body: { message: denial } });
    });
  });

  test('206-mutating-webhook: a new object has the replicas of the hook, and the request is in the log', async (context) => {
    requireTools(context, 'bash', 'jq', 'base64');
    await using scene = await webhookWorld(backend(), '206-mutating-webhook');
    const { world } = scene;
    await mergeAt(world, `/api/v1/namespaces/${world.namespace}`, {
      metadata: { labels: { name: 'example-206' } },
    });
    await withDefinition(world, await manifest('206-mutating-webhook', 'crd.yaml'), async () => {
      await world.converge();
      const body = await manifest('206-mutating-webhook', 'crontab-valid.yaml');
      await expect
        .poll(
          () => world.backend.request({ method: 'POST', path: `${cronTabs(world)}?dryRun=All`, body }),
          SOON,
        )
        .toMatchObject({ body: { spec: { replicas: 333 } } });
      await world.expect({ method: 'POST', path: cronTabs(world), body });
      expect(await read(world, `${cronTabs(world)}/crontab-valid`)).toMatchObject({
        spec: { replicas: 333 },
      });
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ hook_operation: 'CREATE', hook_name: 'crontab-valid' }),
      );
    });
  });

  test('210-conversion-webhook: an object of the old version is read in the new one', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using scene = await webhookWorld(backend(), '210-conversion-webhook');
    const { world } = scene;
    await withDefinition(world, await manifest('210-conversion-webhook', 'crd.yaml'), async () => {
      await world.converge();
      const body = await manifest('210-conversion-webhook', 'crontab-v1alpha1.yaml');
      await world.expect({ method: 'POST', path: cronTabs(world, 'v1alpha1'), body });
      await expect
        .poll(() => read(world, `${cronTabs(world, 'v1alpha2')}/crontab-v1alpha1`), SOON)
        .toMatchObject({ apiVersion: 'stable.example.com/v1alpha2', spec: { cron: '* * * * */5' } });
    });
  });
}

function cronTabs(world: World, version = 'v1'): string {
  return `/apis/stable.example.com/${version}/namespaces/${world.namespace}/crontabs`;
}

/** A world whose webhooks the API server reaches on loopback; what it registered is removed at the end. */
async function webhookWorld(backend: Backend, name: string) {
  const [validating, conversion] = await freePorts(2);
  const configuration = `example-${validating}`;
  const world = await hookSetWorld(backend, name, {
    hookEnv: { FRAMEWORK_DIR: projectRoot },
    flags: {
      'webhook-url': 'https://127.0.0.1',
      'validating-webhook-listen-address': '127.0.0.1',
      'validating-webhook-listen-port': String(validating),
      'validating-webhook-configuration-name': configuration,
      'conversion-webhook-listen-address': '127.0.0.1',
      'conversion-webhook-listen-port': String(conversion),
    },
  });
  return {
    world,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'])
        await remove(world, `${CONFIGURATIONS}/${kind}/${configuration}-hooks`);
    },
  };
}
