/** Applies objects as the tools do: on the server, with a field manager, forced, and with strict validation. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, vi } from 'vitest';
import type { ApiProbe } from '../control-plane/api-probe.ts';
import type { World } from '../world.ts';
import type { Definition } from './definitions.ts';
import { type GitObject, pathOf } from './page-samples.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SOON = { timeout: 60_000, interval: 100 };

/** Creates definitions that do not exist yet, and waits until their kinds are served. */
export async function defineKinds(probe: ApiProbe, definitions: readonly Definition[]): Promise<void> {
  for (const body of definitions) {
    await probe.request({ method: 'POST', path: DEFINITIONS, body });
    const { group, names, versions } = body.spec;
    const path = `/apis/${group}/${versions[0]?.name}/${names.plural}`;
    await vi.waitFor(async () => expect((await probe.request({ path })).status).toBe(200), SOON);
  }
}

/** The definitions in the YAML files of a directory. */
export async function definitionsIn(directory: string): Promise<readonly Definition[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.yaml'));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.flatMap((text) => loadAll(text) as Definition[]);
}

/** The request that applies an object as the tools do, in the namespace of the world. */
function applyRequest(world: World, object: GitObject, query: string) {
  const { name, namespace, ...metadata } = object.metadata;
  const scoped = namespace === undefined ? {} : { namespace: world.namespace };
  const body = { ...object, metadata: { ...metadata, name, ...scoped } };
  return {
    method: 'PATCH',
    path: `${pathOf(body)}?force=true&fieldValidation=Strict&${query}`,
    contentType: 'application/apply-patch+yaml',
    body,
  };
}

/** @returns the object as it would be, or the refusal */
export async function dryRun(world: World, object: GitObject): Promise<unknown> {
  return (await world.backend.request(applyRequest(world, object, 'dryRun=All&fieldManager=test'))).body;
}

/** @returns the status of the response */
export async function apply(world: World, object: GitObject, manager: string): Promise<number> {
  return (await world.backend.request(applyRequest(world, object, `fieldManager=${manager}`))).status;
}
