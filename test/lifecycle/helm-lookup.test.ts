import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { type Backend, World } from '../support/world.ts';

const SEEN = '(lookup "v1" "ConfigMap" .Release.Namespace "source").data.a';

/** A chart whose ConfigMap has what `lookup` sees and what another action gives. */
function template(action: string): string {
  return `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  seen: {{ ${SEEN} }}
  other: {{ ${action} | quote }}
`;
}

describeLifecycle((backend) => {
  testWith(backend, [['the time', 'now | date "2006-01-02 15:04:05.000000"']]);
});

// What the chart has beside lookup makes no difference to an API server.
describeApiIndependent((backend) => {
  testWith(backend, [
    ['a random text', 'randAlphaNum 16'],
    ['the number of the revision', '.Release.Revision'],
  ]);
});

function testWith(
  backend: () => Backend,
  actions: readonly (readonly [name: string, action: string])[],
): void {
  test.for(actions)(
    'a chart with lookup and %s is upgraded when what it reads has changed, and only then',
    async ([, action]) => {
      await using world = await World.create(backend(), {
        modules: {
          'values.yaml': 'webEnabled: true\n',
          '001-web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 0.1.0\n',
          '001-web/templates/web.yaml': template(action),
        },
      });
      const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'source' } };
      const body = { ...source, data: { a: 'old' } };
      await world.expect({ method: 'POST', path: world.path('configmaps'), body });
      const run = async (): Promise<unknown> => {
        await world.converge();
        await world.stop();
        return (await world.get('configmaps', 'web'))?.['data'];
      };
      const first = await run();
      expect(first).toMatchObject({ seen: 'old', other: expect.stringMatching(/./) });
      expect(await run()).toEqual(first);
      expect(await run()).toEqual(first);
      expect(await revisions(world)).toEqual(['1 deployed']);
      const changed = { ...source, data: { a: 'new' } };
      await world.expect({ method: 'PUT', path: world.path('configmaps', 'source'), body: changed });
      const second = await run();
      expect(second).toMatchObject({ seen: 'new' });
      expect(await run()).toEqual(second);
      expect(await revisions(world)).toEqual(['1 superseded', '2 deployed']);
    },
  );
}

async function revisions(world: World): Promise<string[]> {
  const list = await world.expect({ path: `${world.path('secrets')}?labelSelector=owner%3Dhelm` });
  return (list as { items: { metadata: { labels: Record<string, string> } }[] }).items.map(
    ({ metadata: { labels } }) => `${labels['version']} ${labels['status']}`,
  );
}
