import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import type { Backend, World } from '../../support/world.ts';
import { cataloguePath, hookSetWorld, requireTools, withDefinition } from './catalogue-world.ts';

export interface Named {
  readonly metadata: { readonly name: string };
}

export function crdSimpleTests(backend: () => Backend): void {
  test('105-crd-simple: a custom resource is reported, although the hook spells its kind differently', async (context) => {
    requireTools(context, 'bash', 'jq');
    await using world = await hookSetWorld(backend(), '105-crd-simple');
    await withDefinition(world, await manifest('105-crd-simple', 'crd-simple.yaml'), async () => {
      await world.converge();
      await createCronTab(world, await manifest('105-crd-simple', 'cr-crontab.yaml'));
      await world.log.untilPrinted('CronTab/crontab object is added');
      expect(world.log.printed).toHaveLength(1);
    });
  });
}

/** One object from a file of an example. */
export async function manifest(name: string, file: string): Promise<Named> {
  return load(await readFile(cataloguePath(name, file), 'utf8')) as Named;
}

export async function createCronTab(world: World, body: object): Promise<void> {
  const path = `/apis/stable.example.com/v1/namespaces/${world.namespace}/crontabs`;
  await world.expect({ method: 'POST', path, body });
}
