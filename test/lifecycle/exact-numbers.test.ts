import { expect, test, vi } from 'vitest';
import { contextHook } from '../support/context-hook.ts';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { hookSection, responseText, startModuleHookServer } from '../support/module-hook-server.ts';
import { World } from '../support/world.ts';
import { shHook, under } from '../support/world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const EXACT = '[9007199254740993,-9007199254740993,9223372036854775807]';

async function createDefinition(world: World, group: string): Promise<void> {
  await world.expect({ method: 'POST', path: CRDS, body: gadgetDefinition(group) });
  const gadgets = { path: `/apis/${group}/v1/namespaces/${world.namespace}/gadgets` };
  await vi.waitFor(() => world.expect(gadgets), { timeout: 60_000 });
}

/** Integers that a double cannot hold; corner case 47 of the hook contract. */
describeLifecycle((backend) => {
  test('integers beyond 2^53 are exact in patches and in binding contexts', async () => {
    await using world = await World.create(backend(), {});
    const group = `${world.namespace}.example.com`;
    await createDefinition(world, group);
    try {
      const head = `"apiVersion":"${group}/v1","kind":"Gadget"`;
      const metadata = `"metadata":{"name":"one","namespace":"${world.namespace}"}`;
      await world.write('global-hooks', {
        'a.sh': shHook(
          'onStartup: 1',
          `cat > "$KUBERNETES_PATCH_PATH" <<'OPERATIONS'
{"operation":"Create","object":{${head},${metadata},"spec":{"created":${EXACT}}}}
{"operation":"MergePatch","apiVersion":"${group}/v1","kind":"Gadget","namespace":"${world.namespace}","name":"one","mergePatch":{"spec":{"merged":${EXACT}}}}
{"operation":"JSONPatch","apiVersion":"${group}/v1","kind":"Gadget","namespace":"${world.namespace}","name":"one","jsonPatch":[{"op":"add","path":"/spec/added","value":${EXACT}}]}
OPERATIONS`,
        ),
        'b.sh': contextHook({ kubernetes: [{ apiVersion: `${group}/v1`, kind: 'Gadget' }] }),
      });
      await world.converge();
      const context = world.log.printed.at(-1) ?? '';
      for (const field of ['created', 'merged', 'added']) expect(context).toContain(`"${field}":${EXACT}`);
    } finally {
      await world.stop();
      await world.expect({ method: 'DELETE', path: `${CRDS}/gadgets.${group}` });
    }
  });

  test('integers beyond 2^53 are exact in what a chart sends through the HTTP hook of its module', async () => {
    await using server = await startModuleHookServer((_body, response) => {
      // Not through JSON.parse(), which would round what it is about.
      const [, children = ''] = /"children":(\{.*\})\}$/.exec(server.requests.at(-1)?.body ?? '') ?? [];
      const changed = children.replace('"rendered":', `"answered":${EXACT},"rendered":`);
      return responseText(200, 'application/json', `{"children":${changed}}`)(_body, response);
    });
    await using world = await World.create(backend(), {});
    const group = `${world.namespace}.example.com`;
    await createDefinition(world, group);
    try {
      await world.write('modules', {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', {
          'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
          'module.yaml': hookSection(server.url, ['pre-reconcile']),
          'templates/gadget.yaml': `apiVersion: ${group}/v1
kind: Gadget
metadata: {name: one, namespace: {{ .Release.Namespace }}}
spec: {rendered: ${EXACT}}
`,
        }),
      });
      await world.write('global-hooks', {
        'see.sh': contextHook({
          kubernetes: [{ apiVersion: `${group}/v1`, kind: 'Gadget', executeHookOnSynchronization: false }],
        }),
      });
      await world.converge();
      expect(server.requests[0]?.body).toContain(`"rendered":${EXACT}`);
      await world.log.until(() => world.log.printed.length > 0);
      for (const field of ['rendered', 'answered'])
        expect(world.log.printed[0]).toContain(`"${field}":${EXACT}`);
    } finally {
      await world.stop();
      await world.expect({ method: 'DELETE', path: `${CRDS}/gadgets.${group}` });
    }
  });
});

describeApiIndependent((backend) => {
  test('integers beyond 2^53 in values are exact in hooks, whatever set them, and a warning says that helm rounds them', async () => {
    const patch = (name: string, digits: number, file: string): string =>
      `echo '{"op":"add","path":"/web/${name}","value":900719925474099${digits}}' > "$${file}"`;
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\nweb: {id: 9007199254740993}\n',
        ...under('001-web', {
          'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
          'templates/a.yaml':
            'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {id: "{{ .Values.web.id }}"}\n',
          'openapi/config-values.yaml':
            'type: object\nproperties: {id: {type: integer}, saved: {type: integer, minimum: 5}}\n',
          'openapi/values.yaml':
            'x-extend: {schema: config-values.yaml}\ntype: object\nproperties: {patched: {type: integer}, preset: {type: integer, default: 9007199254740999}}\n',
          'hooks/a.sh': shHook(
            'beforeHelm: 1',
            `${patch('patched', 5, 'VALUES_JSON_PATCH_PATH')}\n${patch('saved', 7, 'CONFIG_VALUES_JSON_PATCH_PATH')}`,
          ),
          'hooks/b.sh': shHook('beforeHelm: 2', 'echo "values $(cat "$VALUES_PATH")"'),
        }),
      },
    });
    await world.converge();
    const printed = world.log.printed.at(-1);
    for (const [name, digits] of [
      ['id', 3],
      ['patched', 5],
      ['saved', 7],
      ['preset', 9],
    ])
      expect(printed).toContain(`"${name}":900719925474099${digits}`);
    await world.log.untilMessage(
      'helm rounds integers beyond 2^53 in values: write them as strings where the chart uses them',
    );
  });
});
