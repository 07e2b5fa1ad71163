import { expect, test, vi } from 'vitest';
import { gadgetDefinition } from '../support/gadget-definition.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const LEVELS = 8_990;
const NUMBER = '9007199254740993';

/** Prints `{"a":{"a":…}}` around a number that no double holds. */
const PRINT_DEEP = `awk 'BEGIN { for (i = 0; i < ${LEVELS}; i++) printf "{\\"a\\":"; printf "${NUMBER}"; for (i = 0; i < ${LEVELS}; i++) printf "}" }'`;
/** Of the contexts of a run: the reason, the names of its objects, whether the number has all digits, and the levels. */
const SUMMARY = `c="$BINDING_CONTEXT_PATH"
echo "\${0##*/}" $(grep -o '"watchEvent":"[A-Za-z]*"' "$c" | sort -u) $(grep -o '"name":"[a-z]*"' "$c" | sort -u) $(grep -c '${NUMBER}' "$c") $(($(grep -o '{"a":' "$c" | wc -l) / ${LEVELS}))`;

/** Objects that are nested nearly as deep as an API server stores. */
describeLifecycle((backend) => {
  test('objects of 9,000 levels are written, listed, watched and filtered, and others beside them', async () => {
    await using world = await World.create(backend(), { flags: { jq: 'builtin' } });
    const group = `${world.namespace}.example.com`;
    await world.expect({ method: 'POST', path: CRDS, body: gadgetDefinition(group) });
    const gadgets = `/apis/${group}/v1/namespaces/${world.namespace}/gadgets`;
    await vi.waitFor(() => world.expect({ path: gadgets }), { timeout: 60_000 });
    const operation = (name: string, spec: string): string =>
      `printf '%s' '{"operation":"Create","object":{"apiVersion":"${group}/v1","kind":"Gadget","metadata":{"name":"${name}","namespace":"${world.namespace}"},"spec":'; ${spec}; printf '}}'`;
    const binding = (jqFilter?: string): string =>
      `kubernetes: ${JSON.stringify([{ apiVersion: `${group}/v1`, kind: 'Gadget', jqFilter }])}`;
    try {
      await world.write('global-hooks', {
        'a.sh': shHook(
          'onStartup: 1',
          `{ ${operation('deep', PRINT_DEEP)}; ${operation('good', `printf '{"b":${NUMBER}}'`)}; } > "$KUBERNETES_PATCH_PATH"`,
        ),
        'full.sh': shHook(binding(), SUMMARY),
        'plain.sh': shHook(binding('{s: .spec}'), SUMMARY),
        'program.sh': shHook(
          binding('.spec | tojson | length'),
          'echo "${0##*/}" $(grep -o \'"filterResult":[0-9]*\' "$BINDING_CONTEXT_PATH" | sort)',
        ),
      });
      await world.converge();
      const characters = 6 * LEVELS + NUMBER.length;
      expect(world.log.printed).toEqual([
        'full.sh "name":"deep" "name":"good" 1 1',
        'plain.sh "name":"deep" "name":"good" 1 2',
        `program.sh "filterResult":${NUMBER.length + 6} "filterResult":${characters}`,
      ]);
      for (const name of ['deep', 'good'])
        await world.expect({
          method: 'PATCH',
          path: `${gadgets}/${name}`,
          body: { spec: { c: 1 } },
          contentType: 'application/merge-patch+json',
        });
      await world.log.until(
        () => world.log.printed.filter((line) => line.startsWith('full.sh "watchEvent"')).length === 2,
      );
    } finally {
      await world.stop();
      await world.expect({ method: 'DELETE', path: `${CRDS}/gadgets.${group}` });
    }
  });
});
