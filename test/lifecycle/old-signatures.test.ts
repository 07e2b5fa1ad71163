import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { colorOf, createSignedWorld, reasonsOf, WEB } from '../support/authorization-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import type { Signer } from '../support/signed-modules.ts';
import type { World } from '../support/world.ts';

const WAIT = { timeout: 60_000, interval: 100 };
/** The record of serial numbers, which the operator looks for every five seconds. */
const SERIALS = 'addon-operator-signatures';
const SERIALS_CHECK_MS = 5_000;

/**
 * Signs and runs `web`, then changes and signs it again.
 *
 * @returns puts back the files and the signature that were run
 */
async function mendAndSign(world: World, signer: Signer): Promise<() => Promise<void>> {
  const directory = join(world.directory, 'modules', '001-web');
  const files = ['values.yaml', 'module.manifest', 'module.manifest.sig'].map((name) =>
    join(directory, name),
  );
  await signer.sign();
  const old = await Promise.all(files.map(async (path) => [path, await readFile(path)] as const));
  await world.converge();
  await world.stop();
  await writeFile(join(directory, 'values.yaml'), 'web: {color: mended}\n');
  await signer.sign();
  return async () => {
    for (const [path, content] of old) await writeFile(path, content);
  };
}

async function serialsOf(world: World): Promise<unknown> {
  return (await world.get('configmaps', SERIALS))?.['data'];
}

async function deleteSerials(world: World): Promise<void> {
  const path = `/api/v1/namespaces/${world.namespace}/configmaps/${SERIALS}`;
  await world.expect({ method: 'DELETE', path });
}

/** Old modules with their old signatures. */
describeLifecycle((backend) => {
  describe('authorization', () => {
    test('an old signature is refused, also after a restart', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), { modules: WEB });
      await using world = made;
      const putBackOld = await mendAndSign(world, signer);
      await world.converge();
      expect(await colorOf(world)).toBe('mended');
      await world.stop();
      await putBackOld();
      await world.converge();
      expect(reasonsOf(world)).toEqual([['web', expect.stringMatching(/but number \d+ has already run/u)]]);
      expect(await colorOf(world)).toBe('mended');
    });

    test('a deleted record of serial numbers is written again while the operator runs, so that old signatures stay refused', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), { modules: WEB });
      await using world = made;
      const putBackOld = await mendAndSign(world, signer);
      await world.converge();
      const record = await serialsOf(world);
      expect(record).toEqual({ web: expect.stringMatching(/^\d+ /u) });
      await deleteSerials(world);
      world.clock.jump(SERIALS_CHECK_MS);
      await vi.waitFor(async () => expect(await serialsOf(world)).toEqual(record), WAIT);
      expect(world.log.records).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          configMap: SERIALS,
          msg: 'the ConfigMap with the serial numbers of signatures was deleted; writing it again',
        }),
      );
      await world.stop();
      await putBackOld();
      await world.converge();
      expect(reasonsOf(world)).toEqual([['web', expect.stringMatching(/but number \d+ has already run/u)]]);
      expect(await colorOf(world)).toBe('mended');
      await world.stop();
      // Who wants to go back deletes the record while no operator runs.
      await deleteSerials(world);
      await world.converge();
      expect(await colorOf(world)).toBe('blue');
      expect(await serialsOf(world)).not.toEqual(record);
    });
  });
});
