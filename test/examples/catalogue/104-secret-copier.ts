import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend, World } from '../../support/world.ts';
import { read, remove, SOON } from '../example-world.ts';
import { hookSetWorld, kubectlEnv, mergeAt, requireTools, withNamespace } from './catalogue-world.ts';

export function secretCopierTests(backend: () => Backend): void {
  test('104-secret-copier: copies of a labelled Secret are created, updated and deleted, also in a new namespace', async (context) => {
    requireTools(context, 'bash', 'jq');
    const hookEnv = await kubectlEnv(context, backend());
    await using world = await hookSetWorld(backend(), '104-secret-copier', { hookEnv });
    const name = `copied-${world.namespace}`;
    const source = `/api/v1/namespaces/default/secrets/${name}`;
    const copy = (namespace = world.namespace) => {
      hurry(world);
      return read(world, `/api/v1/namespaces/${namespace}/secrets/${name}`);
    };
    try {
      await world.converge();
      await createSource(world, name);
      await expect
        .poll(() => copy(), SOON)
        .toMatchObject({ data: { key: 'b25l' }, metadata: { labels: COPIED } });
      const later = `${world.namespace}-later`;
      await withNamespace(world, later, async () => {
        await expect.poll(() => copy(later), SOON).toMatchObject({ data: { key: 'b25l' } });
        await mergeAt(world, source, { data: { key: 'dHdv' } });
        await expect.poll(() => copy(later), SOON).toMatchObject({ data: { key: 'dHdv' } });
        await expect.poll(() => copy(), SOON).toMatchObject({ data: { key: 'dHdv' } });
        await remove(world, source);
        await expect.poll(() => copy(later), SOON).toBeUndefined();
        await expect.poll(() => copy(), SOON).toBeUndefined();
      });
    } finally {
      await remove(world, source);
    }
  });

  test('104-secret-copier: the nightly schedule repairs missing copies', apiIndependent, async (context) => {
    requireTools(context, 'bash', 'jq');
    const hookEnv = await kubectlEnv(context, backend());
    await using world = await hookSetWorld(backend(), '104-secret-copier', { hookEnv });
    const name = `missed-${world.namespace}`;
    const source = `/api/v1/namespaces/default/secrets/${name}`;
    const copy = () => {
      hurry(world);
      return world.get('secrets', name);
    };
    try {
      await createSource(world, name);
      const stale = { kind: 'Secret', metadata: { name: 'stale', labels: COPIED } };
      await world.create('secrets', stale);
      await world.converge();
      expect(await world.get('secrets', name)).toBeUndefined();
      world.clock.jump(24 * 3_600_000);
      await expect.poll(() => copy(), SOON).toMatchObject({ data: { key: 'b25l' } });
      await expect.poll(() => world.get('secrets', 'stale'), SOON).toBeUndefined();
    } finally {
      await remove(world, source);
    }
  });
}

/** Others in the cluster may delete a namespace while the hook copies into it: then the next attempt comes at once. */
function hurry({ clock, daemon }: World): void {
  const { status } = daemon.operator.router.main;
  if (status.type === 'delayed') clock.jump(status.delayMs);
}

const COPIED = { 'secret-copier': 'yes' };

async function createSource(world: World, name: string): Promise<void> {
  const body = { metadata: { name, labels: COPIED }, data: { key: 'b25l' } };
  await world.expect({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body });
}
