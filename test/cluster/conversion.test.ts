import { homedir } from 'node:os';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { ConversionLab, converterHook } from '../support/conversion-lab.ts';
import type { Backend } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

type Contexts = readonly [
  { readonly fromVersion: string; readonly review: { readonly request: { readonly uid: string } } },
];

const never = new AbortController().signal;

/** A lab whose only hook converts as `body` says, with a definition, an object and a daemon that has started. */
async function singleHook(backend: Backend, body: string): Promise<ConversionLab> {
  const lab = await ConversionLab.create(backend, (crdName) => ({
    globalHooks: { 'convert.cjs': converterHook({ crdName, steps: ['v1→v2'], body }) },
  }));
  await lab.createDefinition();
  await lab.createBox('a');
  await lab.world.converge();
  return lab;
}

describeCluster('conversion webhooks on the control plane', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('a hook converts objects while `main` is blocked by another hook', async () => {
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      globalHooks: {
        'convert.cjs': converterHook({ crdName, steps: ['v1→v2', 'v2→v1'] }),
        'broken.sh': shHook('onStartup: 1', 'exit 1'),
      },
    }));
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.world.start();
    await lab.world.untilDelayed();
    await lab.untilBox('v2', 'a', (response) =>
      expect(response).toMatchObject({
        status: 200,
        body: { apiVersion: `${lab.group}/v2`, metadata: { name: 'a' }, spec: { path: ['v1', 'v2'] } },
      }),
    );
    expect(await lab.conversion()).toMatchObject({
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1', 'v1beta1'],
        clientConfig: {
          url: expect.stringMatching(new RegExp(`^https://127\\.0\\.0\\.1:\\d+/${lab.crdName}$`)),
        },
      },
    });
  });

  test('a chain uses a global hook and a module hook, and each gets its step', async () => {
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      globalHooks: { 'first.cjs': converterHook({ crdName, steps: ['v1→v2'] }) },
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/second.cjs': converterHook({ crdName, steps: ['v2→v3'] }),
      },
    }));
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.world.converge();
    await lab.untilBox('v3', 'a', (response) =>
      expect(response).toMatchObject({ status: 200, body: { spec: { path: ['v1', 'v2', 'v3'] } } }),
    );
    // The API server asks for reasons of its own, too: the steps of one request belong together.
    const seen = lab.world.log.printed
      .filter((line) => line.startsWith('contexts '))
      .map((line) => JSON.parse(line.slice('contexts '.length)) as Contexts);
    const second = seen.find(([{ fromVersion }]) => fromVersion === 'v2');
    const first = seen.find(([context]) => context.review.request.uid === second?.[0].review.request.uid);
    expect(first).toEqual([
      {
        binding: 'convert',
        type: 'Conversion',
        fromVersion: 'v1',
        toVersion: 'v2',
        review: {
          request: {
            uid: expect.any(String),
            desiredAPIVersion: `${lab.group}/v3`,
            objects: [expect.objectContaining({ apiVersion: `${lab.group}/v1`, kind: 'Box' })],
          },
        },
      },
    ]);
    expect(second).toMatchObject([
      {
        fromVersion: 'v2',
        toVersion: 'v3',
        review: {
          request: {
            desiredAPIVersion: `${lab.group}/v3`,
            objects: [{ apiVersion: `${lab.group}/v2`, spec: { path: ['v1', 'v2'] } }],
          },
        },
      },
    ]);
  });

  test('kubectl shows the message of a hook that cannot convert', async () => {
    await using lab = await singleHook(backend, "() => ({ failedMessage: 'boxes of v1 are too old' })");
    await lab.untilBox('v2', 'a', (response) => expect(response.status).toBe(500));
    const kubectl = await pinnedKubectl({ cacheDir: cacheDirectory(process.env, homedir()) }, never);
    const { stderr, exitCode } = await execa(
      kubectl,
      ['get', `boxes.v2.${lab.group}`, 'a', '--namespace', lab.world.namespace],
      { env: { KUBECONFIG: backend.kubeconfigPath }, reject: false },
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('boxes of v1 are too old');
  });

  test.each([
    ['fails', '() => process.exit(1)', "Hook failed to convert to GROUP/v2: global hook 'convert.cjs'"],
    [
      'returns nothing',
      '() => ({ convertedObjects: [] })',
      "global hook 'convert.cjs' returned 0 objects instead of 1",
    ],
    [
      'renames objects',
      `({ review }) => ({ convertedObjects: review.request.objects.map((object) => ({
        ...object, apiVersion: review.request.desiredAPIVersion, metadata: { ...object.metadata, name: 'b' },
      })) })`,
      "global hook 'convert.cjs' changed metadata.name of 'a' from 'a' to 'b'",
    ],
    [
      'gives another uid',
      `({ review }) => ({ convertedObjects: review.request.objects.map((object) => ({
        ...object, apiVersion: review.request.desiredAPIVersion, metadata: { ...object.metadata, uid: 'new' },
      })) })`,
      "global hook 'convert.cjs' changed metadata.uid of 'a'",
    ],
    [
      'leaves the version',
      '({ review }) => ({ convertedObjects: review.request.objects })',
      'Conversion CRD to GROUP/v2 was not successful',
    ],
  ])('a hook that %s is named by the API server', async (_what, body, message) => {
    await using lab = await singleHook(backend, body);
    const expected = message.replace('GROUP', lab.group).replace('CRD', lab.crdName);
    await lab.untilBox('v2', 'a', (response) =>
      expect(response).toMatchObject({ status: 500, body: { message: expect.stringContaining(expected) } }),
    );
  });

  test('a CRD that is created after the start uses the webhook', async () => {
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      globalHooks: { 'convert.cjs': converterHook({ crdName, steps: ['v1→v2'] }) },
    }));
    await lab.world.converge();
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.untilBox('v2', 'a', (response) => expect(response.status).toBe(200));
  });

  test('the hook of a disabled module no longer converts, and the CRD stays as it is', async () => {
    await using lab = await ConversionLab.create(backend, (crdName) => ({
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/convert.cjs': converterHook({ crdName, steps: ['v1→v2'] }),
      },
    }));
    await lab.createDefinition();
    await lab.createBox('a');
    await lab.world.converge();
    await lab.untilBox('v2', 'a', (response) => expect(response.status).toBe(200));
    const before = await lab.conversion();
    await lab.world.putConfig({ webEnabled: 'false' });
    await lab.world.log.untilMessage('ModuleDelete success, module is deleted');
    await lab.untilBox('v2', 'a', (response) =>
      expect(response).toMatchObject({
        status: 500,
        body: {
          message: expect.stringContaining(`Conversion ${lab.crdName} to ${lab.group}/v2 was not successful`),
        },
      }),
    );
    expect(await lab.conversion()).toEqual(before);
  });
});
