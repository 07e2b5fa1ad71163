import { isObject } from '@addon-operator/json';
import { beforeAll, expect, test } from 'vitest';
import { create, createWorld, eventually, isDenied, webhook } from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { ConversionLab } from '../support/conversion-lab.ts';
import { type HookResponse, startHookServer } from '../support/hook-server.ts';
import type { Backend } from '../support/world.ts';

/** What is at a path of keys in the first context. */
function at([context]: Parameters<HookResponse>[0]['contexts'], ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), context);
}

/** Denies names that begin with `bad`, allows the others with a warning, and adds an entry to them. */
const decide: HookResponse = ({ contexts }) => {
  const name = String(at(contexts, 'review', 'request', 'name'));
  if (at(contexts, 'type') === 'Validating')
    return name.startsWith('bad')
      ? { admissionResponse: { allowed: false, message: 'this name is bad' } }
      : { admissionResponse: { allowed: true, warnings: ['look out'] } };
  const patch = JSON.stringify([{ op: 'add', path: '/data/added', value: 'yes' }]);
  return { admissionResponse: { allowed: true, patch: Buffer.from(patch).toString('base64') } };
};

describeCluster('HTTP hooks asked by a real API server', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('they deny, allow and change objects; a server that does not respond denies, and each request has a key', async () => {
    await using server = await startHookServer(decide);
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'decide.http.yaml': `address: ${server.url}/
${webhook(world, 'kubernetesValidating')}
${webhook(world, 'kubernetesMutating')}`,
    });
    await world.converge();
    const denied = await eventually(
      () => create(world, 'bad'),
      ({ body }) => JSON.stringify(body).includes('this name is bad'),
    );
    expect(denied).toSatisfy(isDenied);
    expect(denied).toMatchObject({ body: { message: expect.stringContaining('this name is bad') } });
    const changed = await eventually(
      () => create(world, `good-${Math.random().toString(36).slice(2)}`),
      ({ body }) => JSON.stringify(body).includes('"added":"yes"'),
    );
    expect(changed).toMatchObject({ status: 201, body: { data: { number: '1', added: 'yes' } } });
    const keys = server.headers('idempotency-key');
    expect(new Set(keys).size).toBe(keys.length);
    await server.stop();
    expect(await create(world, 'later')).toSatisfy(isDenied);
  });

  test('they convert objects', async () => {
    await using server = await startHookServer(({ contexts }) => {
      const { desiredAPIVersion, objects } = at(contexts, 'review', 'request') as {
        readonly desiredAPIVersion: string;
        readonly objects: readonly object[];
      };
      const convertedObjects = objects.map((object) => ({
        ...object,
        apiVersion: desiredAPIVersion,
        spec: { path: ['by server'] },
      }));
      return { conversionResponse: { convertedObjects } };
    });
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      globalHooks: {
        'convert.http.yaml': `address: ${server.url}/
kubernetesCustomResourceConversion:
- {name: boxes, crdName: ${crdName}, conversions: [{fromVersion: v1, toVersion: v2}]}
`,
      },
    }));
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.world.converge();
    await lab.untilBox('v2', 'a', (response) =>
      expect(response).toMatchObject({
        status: 200,
        body: { apiVersion: `${lab.group}/v2`, spec: { path: ['by server'] } },
      }),
    );
  });
});
