import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { projectRoot } from '../../checks/checkout.ts';
import type { Backend, World } from '../../support/world.ts';
import { exampleWorld, read, remove, SOON } from '../example-world.ts';
import { cataloguePath, DirectoryCopy, requireTools } from './catalogue-world.ts';

const NAME = '300-platform';
const SPACE = '/api/v1/namespaces/team-space';

export function platformTests(backend: () => Backend): void {
  test('300-platform: modules in the shapes of published ones are ready, and their hooks and charts do what they say', async (context) => {
    requireTools(context, 'bash', 'jq', 'python3');
    await using modules = await DirectoryCopy.of(cataloguePath(NAME, 'modules'));
    await addEnvironment(join(modules.path, '060-report/hooks'));
    await using world = await exampleWorld(backend(), `catalogue/${NAME}`, {
      directories: { modules: modules.path },
      hookEnv: { FRAMEWORK_DIR: projectRoot },
    });
    try {
      await world.converge();
      expect(await read(world, world.path('configmaps', 'common-labels'))).toMatchObject({
        metadata: { labels: { platform: 'example', module: 'common-labels', team: 'platform' } },
      });
      expect(await read(world, world.path('configmaps', 'nodes'))).toMatchObject({ data: { names: '[]' } });
      expect(await read(world, world.path('configmaps', 'limits'))).toMatchObject({ data: { total: '30' } });
      expect(await read(world, `${SPACE}/configmaps/greeting`)).toMatchObject({ data: { text: 'hello' } });
      expect(await read(world, world.path('configmaps', 'images'))).toMatchObject({
        data: { web: expect.stringMatching(/^[0-9a-f]{12}$/) },
      });
      expect(world.log.printed).toContain('in a virtual environment');
      expect(world.log.printed).toContain('deployed to team-space');
      expect(world.log.printed).toContain('links to 10 modules');
      expect(messages(world)).toContain('reported by nodes');

      await world.expect({
        method: 'POST',
        path: world.path('configmaps'),
        body: { metadata: { name: 'text', labels: { platform: 'text' } }, data: { text: 'hello' } },
      });
      await expect
        .poll(() => read(world, world.path('secrets', 'text')), SOON)
        .toMatchObject({ data: { text: Buffer.from('hello').toString('base64') } });

      await world.expect({
        method: 'POST',
        path: world.path('configmaps'),
        body: {
          metadata: { name: 'domains', labels: { platform: 'domains' } },
          data: { domain: 'example.com' },
        },
      });
      await world.expect({
        method: 'POST',
        path: world.path('configmaps'),
        body: { metadata: { name: 'web', labels: { platform: 'request' } } },
      });
      await world.log.untilPrinted('["web"] for ["example.com"], issued []');
    } finally {
      await remove(world, SPACE);
    }
  });
}

/** Makes a virtual environment, as the build of an image does. */
async function addEnvironment(hooks: string): Promise<void> {
  await execa('python3', ['-m', 'venv', '--without-pip', join(hooks, 'venv')]);
}

function messages(world: World): unknown[] {
  return world.log.records.map(({ msg }) => msg);
}
