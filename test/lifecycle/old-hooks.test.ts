import { expect, test } from 'vitest';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';

/** A hook of the format without `configVersion` that prints its binding contexts. */
function oldHook(config: object): string {
  return `#!/bin/sh
if [ "$1" = "--config" ]; then
echo '${JSON.stringify(config)}'
exit 0
fi
echo "contexts $(cat "$BINDING_CONTEXT_PATH")"
`;
}

/** What the hooks were given, run by run. */
function contexts(world: World): readonly unknown[] {
  return world.log.printed
    .filter((line) => line.startsWith('contexts '))
    .map((line) => JSON.parse(line.slice('contexts '.length)) as unknown);
}

/** Hooks whose configuration has no version. */
describeLifecycle((backend) => {
  test('a hook without configVersion gets the event and its object, one event in each run', async () => {
    await using world = await World.create(backend(), {});
    // The control plane puts a ConfigMap of its own into each new namespace, in its own time.
    const metadata = (name: string) => ({ metadata: { name, labels: { watched: 'yes' } } });
    await world.create('configmaps', metadata('there-before'));
    await world.write('global-hooks', {
      'old.sh': oldHook({
        onStartup: 1,
        onKubernetesEvent: [
          {
            name: 'maps',
            kind: 'cm',
            event: ['add', 'update', 'delete'],
            namespaceSelector: { matchNames: [world.namespace] },
            selector: { matchLabels: { watched: 'yes' } },
            jqFilter: '.data',
          },
        ],
      }),
      'never.sh': oldHook({ onKubernetesEvent: [{ kind: 'ConfigMap' }] }),
    });
    await world.converge();
    expect(contexts(world)).toEqual([[{ binding: 'onStartup' }]]);
    const seen = (count: number) => world.log.until(() => contexts(world).length >= count);
    await world.create('configmaps', metadata('made'));
    await seen(2);
    await world.merge('configmaps', 'made', { data: { a: '1' } });
    await seen(3);
    await world.expect({ method: 'DELETE', path: world.path('configmaps', 'made') });
    await seen(4);
    const object = { resourceNamespace: world.namespace, resourceKind: 'ConfigMap', resourceName: 'made' };
    expect(contexts(world).slice(1)).toEqual([
      [{ binding: 'maps', resourceEvent: 'add', ...object }],
      [{ binding: 'maps', resourceEvent: 'update', ...object }],
      [{ binding: 'maps', resourceEvent: 'delete', ...object }],
    ]);
  });
});
