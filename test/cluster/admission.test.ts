import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { SETTINGS } from '../../src/settings.ts';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
import {
  CHECKER,
  create,
  createWorld,
  eventually,
  isDenied,
  VALIDATING,
  webhook,
} from '../support/admission-lab.ts';
import { controlPlaneBackend } from '../support/backends.ts';
import { configMapBinding, watchedMap } from '../support/context-hook.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import type { Backend } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const never = new AbortController().signal;

describeCluster('admission webhooks called by the API server', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  test('a validating hook denies with its message and allows; it gets the request and nothing else', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    await world.converge();
    const denied = await eventually(() => create(world, 'bad'), isDenied);
    expect(denied).toMatchObject({
      status: 403,
      body: { message: 'admission webhook "check.example.com" denied the request: this name is bad' },
    });
    expect(await create(world, 'good')).toMatchObject({ status: 201 });
    expect(await create(world, 'warn')).toMatchObject({ status: 201 });
    expect(await create(world, 'bad-but-not-asked', {})).toMatchObject({ status: 201 });
    const [context] = JSON.parse(world.log.printed.at(-1) ?? '[]') as Record<string, unknown>[];
    expect(context).toEqual({
      binding: 'check.example.com',
      type: 'Validating',
      review: { request: expect.objectContaining({ name: 'warn', operation: 'CREATE', oldObject: null }) },
    });
  });

  test('a mutating hook changes the object by a patch in base64, and a patch as plain JSON denies', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    const patch = Buffer.from('[{"op":"add","path":"/data/added","value":"yes"}]').toString('base64');
    await world.write('global-hooks', {
      'change.sh': shHook(
        webhook(world, 'kubernetesMutating'),
        `if grep -q '"name":"broken"' "$BINDING_CONTEXT_PATH"
        then patch='[{"op":"add","path":"/data/added","value":"yes"}]'; else patch='"${patch}"'; fi
        echo "{\\"allowed\\":true,\\"patch\\":$patch}" > "$ADMISSION_RESPONSE_PATH"`,
      ),
    });
    await world.converge();
    let attempt = 0;
    const created = await eventually(
      () => create(world, `item-${(attempt += 1)}`),
      ({ body }) => JSON.stringify(body).includes('added'),
    );
    expect(created).toMatchObject({ status: 201, body: { data: { number: '1', added: 'yes' } } });
    expect(await create(world, 'broken')).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("Hook failed: global hook 'change.sh'") },
    });
  });

  test('a hook that fails, writes no response or takes too long denies with its name, while main is blocked', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'blocks.sh': shHook('onStartup: 1', 'exit 1'),
      'check.sh': shHook(
        webhook(world, 'kubernetesValidating'),
        `case "$(cat "$BINDING_CONTEXT_PATH")" in
        *'"name":"fail'*) exit 1 ;;
        *'"name":"silent'*) ;;
        *) echo '{"allowed":true}' > "$VALIDATING_RESPONSE_PATH" ;;
        esac`,
      ),
      'slow.sh': shHook(
        webhook(world, 'kubernetesValidating', '  timeoutSeconds: 1')
          .replace('check.example.com', 'slow.example.com')
          .replace('checked', 'slow'),
        'sleep 60',
      ),
    });
    await world.start();
    await world.untilDelayed();
    const denial = async (name: string, labels?: Readonly<Record<string, string>>) => {
      const { status, body } = await eventually(() => create(world, name, labels), isDenied);
      return [status, (body as { readonly message: string }).message];
    };
    const saying = (text: string) => expect.stringContaining(text);
    expect(await denial('fail')).toEqual([403, saying("Hook failed: global hook 'check.sh'")]);
    expect(await denial('silent')).toEqual([
      500,
      saying("hook task prop error: global hook 'check.sh' wrote no answer"),
    ]);
    expect(await denial('slow', { slow: 'yes' })).toEqual([
      504,
      saying("global hook 'slow.sh' gave no response within 0.75 s"),
    ]);
    expect(await create(world, 'fine')).toMatchObject({ status: 201 });
  });

  test('kubectl shows warnings of a hook, and with failure policy Ignore a request without a response in time is allowed', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
      'slow.sh': shHook(
        webhook(world, 'kubernetesMutating', '  timeoutSeconds: 1\n  failurePolicy: Ignore'),
        'grep -q \'"name":"warn-and-slow"\' "$BINDING_CONTEXT_PATH" && sleep 60; echo \'{"allowed":true}\' > "$ADMISSION_RESPONSE_PATH"',
      ),
    });
    await world.converge();
    await eventually(() => create(world, 'bad'), isDenied);
    const kubectl = await pinnedKubectl({ cacheDir: cacheDirectory(process.env, homedir()) }, never);
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'warn', labels: { checked: 'yes' } },
    };
    const createBy = (name: string) =>
      execa(kubectl, ['create', '--namespace', world.namespace, '-f', '-'], {
        env: { KUBECONFIG: backend.kubeconfigPath },
        input: JSON.stringify({ ...object, metadata: { ...object.metadata, name } }),
        reject: false,
      });
    expect(await createBy('warn')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Warning: look out'),
    });
    const slow = await createBy('warn-and-slow');
    expect(slow.exitCode).toBe(0);
    expect(slow.stderr).toContain(
      "Warning: global hook 'slow.sh' gave no response within 0.75 s: allowed by its failurePolicy",
    );
    expect((await createBy('bad-one')).stderr).toContain('denied the request: this name is bad');
  });

  test('a webhook sees snapshots while the Synchronization of its hook fails', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    const names = JSON.stringify([
      configMapBinding(world.namespace, 'names', {
        jqFilter: '.metadata.name',
        keepFullObjectsInMemory: false,
      }),
    ]);
    await world.create('configmaps', watchedMap('known', 'names'));
    await world.write('global-hooks', {
      'check.sh': shHook(
        `kubernetes: ${names}\n${webhook(world, 'kubernetesValidating', '  includeSnapshotsFrom: [names]')}`,
        `grep -q '"review"' "$BINDING_CONTEXT_PATH" || exit 1
        message=$(sed -E 's/.*"snapshots":([^]]*]).*/\\1/; s/"/\\\\"/g' "$BINDING_CONTEXT_PATH")
        echo "{\\"allowed\\":false,\\"message\\":\\"$message\\"}" > "$VALIDATING_RESPONSE_PATH"`,
      ),
    });
    await world.start();
    await world.untilDelayed();
    expect(await eventually(() => create(world, `other-${Math.random()}`), isDenied)).toMatchObject({
      body: { message: expect.stringContaining('{"names":[{"filterResult":"known"}]') },
    });
  });

  test('a hundred requests at the same time all get responses while main is blocked by a failing hook', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'blocks.sh': shHook('onStartup: 1', 'exit 1'),
      'check.sh': shHook(webhook(world, 'kubernetesValidating', '  timeoutSeconds: 30'), CHECKER),
    });
    await world.start();
    await world.untilDelayed();
    await eventually(() => create(world, 'bad'), isDenied);
    const requests = Array.from({ length: 100 }, (_, index) =>
      create(world, index % 2 === 0 ? `good-${index}` : `bad-${index}`),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses).toEqual(requests.map((_, index) => (index % 2 === 0 ? 201 : 403)));
    expect(world.daemon.operator.converge.first).not.toBe('done');
  });

  test('by default the objects and paths of webhooks have the names of the reference', async () => {
    await using lab = await createWorld(backend, {
      'validating-webhook-configuration-name': 'shell-operator-hooks',
    });
    const { world } = lab;
    expect(SETTINGS.validatingConfigurationName.default).toBe('shell-operator-hooks');
    const path = `${VALIDATING}/shell-operator-hooks-hooks`;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    try {
      await world.converge();
      const { body } = await backend.request({ path });
      expect(body).toMatchObject({
        webhooks: [
          {
            name: 'check.example.com',
            clientConfig: { url: expect.stringMatching(/\/hooks\/check-example-com$/) },
          },
        ],
      });
      expect(await eventually(() => create(world, 'bad'), isDenied)).toMatchObject({ status: 403 });
    } finally {
      await world.stop();
      await backend.request({ method: 'DELETE', path });
    }
  });

  test('a broken hook cannot keep the daemon from saving its own state', async () => {
    await using lab = await createWorld(backend);
    const { world } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(
        `kubernetesValidating:
- name: check.example.com
  namespace: {labelSelector: {matchLabels: {kubernetes.io/metadata.name: ${world.namespace}}}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps, secrets], operations: ["*"]}]`,
        'exit 1',
      ),
    });
    await world.converge();
    expect(await eventually(() => create(world, `other-${Math.random()}`), isDenied)).toMatchObject({
      status: 403,
    });
    await world.putConfig({ global: 'a: 1\n' });
    expect(await world.get('configmaps', 'addon-operator')).toMatchObject({ data: { global: 'a: 1\n' } });
  });

  test("a module's webhook comes with the module and goes with it, and leaves those of others alone", async () => {
    await using lab = await createWorld(backend);
    const { world, name } = lab;
    const path = `${VALIDATING}/${name}`;
    const foreign = {
      name: 'foreign.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/x' },
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    await world.expect({
      method: 'POST',
      path: VALIDATING,
      body: { kind: 'ValidatingWebhookConfiguration', metadata: { name }, webhooks: [foreign] },
    });
    await world.write('modules', {
      'values.yaml': 'guardEnabled: true\n',
      '001-guard/hooks/check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    await world.converge();
    const registered = async () =>
      (await backend.request({ path })).body as { webhooks?: { name: string }[] };
    expect((await registered()).webhooks?.map((entry) => entry.name)).toEqual([
      'foreign.example.com',
      'check.example.com',
    ]);
    expect(await eventually(() => create(world, 'bad'), isDenied)).toMatchObject({ status: 403 });
    await world.putConfig({ guardEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect((await registered()).webhooks?.map((entry) => entry.name)).toEqual(['foreign.example.com']);
    expect(
      await eventually(
        () => create(world, 'bad'),
        ({ status }) => status === 201,
      ),
    ).toMatchObject({
      status: 201,
    });
  });

  test('webhooks of an earlier daemon are removed at start', async () => {
    await using lab = await createWorld(backend);
    const { world, name } = lab;
    await world.write('global-hooks', {
      'check.sh': shHook(webhook(world, 'kubernetesValidating'), CHECKER),
    });
    await world.converge();
    expect(await backend.request({ path: `${VALIDATING}/${name}` })).toMatchObject({ status: 200 });
    await world.stop();
    expect(await backend.request({ path: `${VALIDATING}/${name}` })).toMatchObject({ status: 200 });
    await rm(join(world.directory, 'global-hooks', 'check.sh'));
    await world.converge();
    expect(await backend.request({ path: `${VALIDATING}/${name}` })).toMatchObject({ status: 404 });
  });
});
