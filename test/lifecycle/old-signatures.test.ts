import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { colorOf, createSignedWorld, reasonsOf, WEB } from '../support/authorization-world.ts';
import { DeliveryWorld, runsIn } from '../support/delivery-world.ts';
import { describeLifecycle } from '../support/lifecycle-suite.ts';
import { uniqueName } from '../support/module-world.ts';
import { FaultRegistry } from '../support/oci/fault-registry.ts';
import { describeRegistries } from '../support/oci/oci-suite.ts';
import { keyringEnv, Signer } from '../support/signed-modules.ts';
import { versionTree } from '../support/store/store-world.ts';
import type { World } from '../support/world.ts';
import { writeTree } from '../support/world-files.ts';

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

describeRegistries('old signatures of versions from a registry', () => {
  describeLifecycle((backend) => {
    test('a version that has run comes back by a rollback, also over a restart, and by nothing else', async () => {
      const name = uniqueName();
      await using registry = await FaultRegistry.start(new AbortController().signal);
      await using lab = await DeliveryWorld.create(backend(), [name], {
        env: (directory) => ({
          ADDON_OPERATOR_MODULE_STORE: join(directory, 'store'),
          ...keyringEnv(directory),
        }),
      });
      const { world } = lab;
      await Signer.create(world);
      const url = registry.url('platform');
      // Serial numbers are seconds, and a fast machine signs two versions in one.
      const pushSigned = async (version: string, serial: string): Promise<void> => {
        const directory = join(world.directory, 'pushed', version, name);
        await writeTree(directory, versionTree(name, version));
        await lab.succeed('module', 'sign', '--key', 'key.pem', '--serial', serial, directory);
        await lab.succeed('module', 'push', directory, `${url}/${name}`, '--channel', 'stable');
      };
      await pushSigned('1.0.0', '1');
      await world.converge();
      await lab.create('ModuleSource', name, { url, interval: '10s' });
      await lab.create('ModuleInstall', name, { source: name, version: { channel: 'stable' } });
      await lab.untilRuns(name, '1.0.0');
      await lab.untilObserved(name, { lastGood: { version: '1.0.0' } });
      await pushSigned('1.1.0', '2');
      lab.passInterval();
      await lab.untilRuns(name, '1.1.0');
      await lab.untilObserved(name, { lastGood: { version: '1.1.0' } });

      // The old content with its old signature, offered as a new version by a client that may push.
      const old = join(world.directory, 'pushed', '1.0.0', name);
      const replay = ['--version', '1.2.0', '--channel', 'stable'];
      await lab.succeed('module', 'push', old, `${url}/${name}`, ...replay);
      const runs = await runsIn(world);
      lab.passInterval();
      await lab.untilStatus('ModuleInstall', name, {
        pending: { version: '1.2.0', message: expect.stringMatching(/but number \d+ has already run/u) },
      });
      await lab.untilRuns(name, '1.1.0');
      expect(await runsIn(world)).toEqual(runs);
      // It has the content that goes back next, so nothing would be left to refuse.
      await lab.succeed('module', 'promote', `${url}/${name}:1.1.0`, 'stable');
      lab.passInterval();
      await lab.untilStatus('ModuleInstall', name, { wanted: { version: '1.1.0' } });

      await lab.succeed('module', 'rollback', name, '--to', '1.0.0');
      await lab.untilRuns(name, '1.0.0');
      await world.stop();
      await world.converge();
      await lab.untilRuns(name, '1.0.0');
      expect(await serialsOf(world)).toEqual({ [name]: expect.stringMatching(/^2 \S+ \*1 \S+$/u) });
    });
  });
});
