import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { LOOK_INTERVAL_MS } from '../../../src/reconcile/directory-looks.ts';
import { moduleWorld } from '../module-world.ts';
import type { Backend, World, WorldOptions } from '../world.ts';
import { runInWorld } from '../world-command.ts';
import { type FileTree, shHook, writeTree } from '../world-files.ts';

const WAIT = { timeout: 15_000, interval: 50 };

/** The default of `--modules-rescan-interval`. */
export const RESCAN_MS = 2_000;

export type StoreWorld = AsyncDisposable & { readonly world: World };

/** A world whose daemon has a module store in `store`. */
export async function storeWorld(
  backend: Backend,
  names: readonly string[],
  options: WorldOptions = {},
): Promise<StoreWorld> {
  const env = (directory: string) => ({ ADDON_OPERATOR_MODULE_STORE: join(directory, 'store') });
  return await moduleWorld(backend, { env, ...options }, names);
}

/**
 * A version of a module: its hooks note it in `runs` and `events` of the world, and its ConfigMap
 * holds the version of the chart and that of the hook.
 */
export function versionTree(name: string, version: string): FileTree {
  const note = `binding=$(sed -E 's/.*"binding":"([A-Za-z]+)".*/\\1/' "$BINDING_CONTEXT_PATH")
echo "${version} $binding" >> "$WORLD/runs"
echo '[{"op":"add","path":"/${name}/hook","value":"${version}"}]' > "$VALUES_JSON_PATCH_PATH"`;
  const event = `jq -r '.[] | select(.type == "Event") | "${version} \\(.watchEvent) \\(.object.metadata.name)"' "$BINDING_CONTEXT_PATH" >> "$WORLD/events"`;
  return {
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    'values.yaml': `${name}Enabled: true\n${name}: {hook: none}\n`,
    'templates/config-map.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data: {chart: {{ .Chart.Version | quote }}, hook: {{ .Values.${name}.hook | quote }}}
`,
    'hooks/hook.sh': shHook('onStartup: 1\nbeforeHelm: 1\nafterHelm: 1\nafterDeleteHelm: 1', note),
    'hooks/event.sh': shHook(
      `kubernetes:\n- {name: e, kind: ConfigMap, labelSelector: {matchLabels: {of: ${name}}}}`,
      event,
    ),
  };
}

/** Writes the files of a version into a directory. */
export async function writeVersion(
  directory: string,
  name: string,
  version: string,
  files: FileTree = {},
): Promise<void> {
  await writeTree(directory, { ...versionTree(name, version), ...files });
}

/** Adds a version to the store with the command. */
export async function addVersion(
  world: World,
  name: string,
  version: string,
  files: FileTree = {},
): Promise<void> {
  const directory = join(world.directory, 'versions', `${name}-${version}`);
  await writeVersion(directory, name, version, files);
  const { exitCode, stderr } = await runInWorld(world, 'module', 'store', 'add', directory);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
}

/** Writes versions into plain directories, and switches links. */
export function versionFiles(root: string) {
  return {
    files: (path: string, name: string, version: string) =>
      writeTree(join(root, path), versionTree(name, version)),
    link: async (path: string, target: string): Promise<void> => {
      await symlink(target, join(root, `${path}.draft`));
      await rename(join(root, `${path}.draft`), join(root, path));
    },
  };
}

/** Lets the times pass in which changes of files are noticed, until something holds. */
export async function lookAtFiles(world: World, done: () => Promise<void> = async () => {}): Promise<void> {
  await vi.waitFor(async () => {
    world.clock.wakeSleeps(RESCAN_MS);
    world.clock.wakeSleeps(LOOK_INTERVAL_MS);
    await done();
  }, WAIT);
}

/** Waits until chart and hooks of a version are live. */
export async function untilLive(world: World, name: string, version: string): Promise<void> {
  await lookAtFiles(world, async () => {
    expect(await world.get('configmaps', name)).toMatchObject({ data: { chart: version, hook: version } });
  });
}

/** Files with which a version cannot be loaded. */
export const BROKEN: readonly FileTree[] = [
  { 'hooks/hook.sh': '#!/bin/sh\necho "onStart: 1"\n' },
  { 'templates/bad.yaml': '{{ fail "not like this" }}' },
  { 'module.yaml': 'requires: 7\n' },
];
