import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { apiIndependent } from '../support/api-independent.ts';
import { keyringEnv, Signer } from '../support/signed-modules.ts';
import { type Backend, World } from '../support/world.ts';
import { exampleDirectory, SOON } from './example-world.ts';

async function priceIn(world: World): Promise<unknown> {
  const map = (await world.get('configmaps', 'shop')) as { data?: Record<string, string> } | undefined;
  return map?.data?.['price'];
}

export function signedModuleTests(backend: () => Backend): void {
  test(
    'signed-module: a module that was changed is refused until it is signed again, and old signatures stay refused',
    apiIndependent,
    async () => {
      await using world = await World.create(backend(), {
        env: keyringEnv,
        flags: { 'watch-files': 'true' },
      });
      const modules = join(world.directory, 'modules');
      await cp(exampleDirectory('signed-module', 'modules'), modules, { recursive: true });
      await cp(exampleDirectory('signed-module', 'global-hooks'), join(world.directory, 'global-hooks'), {
        recursive: true,
      });
      const files = ['values.yaml', 'module.manifest', 'module.manifest.sig'].map((file) =>
        join(modules, '010-shop', file),
      );
      const signer = await Signer.create(world);
      await signer.sign('shop');
      const old = await Promise.all(files.map(async (path) => [path, await readFile(path)] as const));
      await world.converge();
      await world.log.untilMessage('watching files for changes');
      expect(await priceIn(world)).toBe('10');

      await writeFile(join(modules, '010-shop', 'values.yaml'), 'shop: {price: 1}\n');
      await vi.waitFor(() => expect(refusals(world)).toHaveLength(1), SOON);
      expect(refusals(world)).toEqual([
        'shop is refused: the content differs from what was signed: values.yaml was changed',
      ]);
      expect(await priceIn(world)).toBe('10');

      await signer.sign('shop');
      await vi.waitFor(async () => expect(await priceIn(world)).toBe('1'), SOON);

      for (const [path, content] of old) await writeFile(path, content);
      await vi.waitFor(
        () => expect(refusals(world).at(-1)).toContain('to go back to this content, sign it again'),
        SOON,
      );
      expect(await priceIn(world)).toBe('1');
    },
  );
}

function refusals(world: World): readonly string[] {
  return world.log.printed.filter((line) => line.startsWith('shop is refused'));
}
