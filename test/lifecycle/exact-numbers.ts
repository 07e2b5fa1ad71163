import { expect, test, vi } from 'vitest';
import { contextHook } from '../support/context-hook.ts';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { type Backend, World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const EXACT = '[9007199254740993,-9007199254740993,9223372036854775807]';

async function createDefinition(world: World, group: string): Promise<void> {
  await world.expect({ method: 'POST', path: CRDS, body: gadgetDefinition(group) });
  const gadgets = { path: `/apis/${group}/v1/namespaces/${world.namespace}/gadgets` };
  await vi.waitFor(() => world.expect(gadgets), { timeout: 20_000 });
}

/** Integers that a double cannot hold; corner case 47 of the hook contract. */
export function exactNumberTests(backend: () => Backend): void {
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

  test('integers beyond 2^53 in values are refused with their path', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'a.sh': shHook(
          'onStartup: 1',
          `echo '{"op":"add","path":"/global/limits","value":{"max":[1,9007199254740993]}}' > "$VALUES_JSON_PATCH_PATH"`,
        ),
      },
    });
    await world.start();
    await world.untilDelayed();
    expect(world.daemon.operator.main.entries[0]?.lastError).toMatch(
      /global hook 'a\.sh'.*\/global\/limits\/max\/1: integers beyond 2\^53 would lose digits/,
    );
  });
}
