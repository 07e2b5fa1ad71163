import { fieldsOf, parseJson } from '@addon-operator/json';
import { parsePointer, valueAt } from '@addon-operator/json/pointer';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import type { FlagPatch } from '../values/enabled-patches.ts';
import { isValuesJson } from '../values/json-values.ts';
import { asModuleKey, GLOBAL_SECTION, type ModuleName } from '../values/module-key.ts';
import type { PatchList, StoredOperation } from '../values/section-patch.ts';
import type { ValuesStore } from '../values/values-store.ts';

/**
 * A path in the values, and the hook that patched it last. The value is not included: it may be
 * secret.
 */
export interface PatchedPath {
  readonly op: StoredOperation['op'];
  readonly path: string;
  readonly hook: string;
}

/**
 * The values and flags that hooks had set when a release was deployed. They are stored with the
 * record of the release, so that `plan`, which runs no hooks, knows what the operator's hooks would
 * set.
 */
export interface SetByHooks {
  readonly global: readonly PatchedPath[];
  readonly module: readonly PatchedPath[];
  readonly flags: readonly (FlagPatch & { readonly hook: string })[];
}

/** The values and flags that hooks have set until now, for the release of a module. */
export function setByHooks(
  {
    values,
    dynamicFlags,
  }: {
    readonly values: Pick<ValuesStore, 'patches'>;
    readonly dynamicFlags: Pick<DynamicFlags, 'all' | 'hooks'>;
  },
  module: ModuleName,
): SetByHooks {
  return {
    global: pathsOf(values.patches(GLOBAL_SECTION)),
    module: pathsOf(values.patches(module)),
    flags: [...dynamicFlags.all].map(([key, isEnabled]) => ({
      key,
      isEnabled,
      hook: dynamicFlags.hooks.get(key) ?? '',
    })),
  };
}

/** The paths of patches, without their values. */
function pathsOf(patches: PatchList): readonly PatchedPath[] {
  return patches.map(({ op, path, hook = '' }) => ({ op, path, hook }));
}

/** The note as it is stored. */
export function formatSetByHooks(set: SetByHooks): string {
  return JSON.stringify(set);
}

/** Parses a note; invalid parts count as not set. */
export function parseSetByHooks(note: string): SetByHooks {
  const { global, module, flags } = fieldsOf(parsedOrNothing(note));
  return {
    global: listOf(global).flatMap(pathOf),
    module: listOf(module).flatMap(pathOf),
    flags: listOf(flags).flatMap(flagOf),
  };
}

/**
 * The operations that hooks would write again.
 *
 * @param values all values that helm was given, by section
 * @param isRun whether the hook of this name runs before the values are used
 */
export function patchesAgain(
  paths: readonly PatchedPath[],
  values: Readonly<Record<string, unknown>>,
  isRun: (hook: string) => boolean,
): PatchList {
  return paths
    .filter(({ hook }) => isRun(hook))
    .flatMap(({ op, path, hook }): PatchList => {
      if (op === 'remove') return [{ op, path, hook }];
      const value = settledValue(values, path);
      return isValuesJson(value) ? [{ op, path, value, hook }] : [];
    });
}

/** The value at a path; a trailing `-` means the element that was appended to a list. */
function settledValue(values: unknown, path: string): unknown {
  const list = path.endsWith('/-') ? valueAt(values, path.slice(0, -'/-'.length)) : undefined;
  return Array.isArray(list) ? list.at(-1) : valueAt(values, path);
}

function parsedOrNothing(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A valid path of a note, else nothing. */
function pathOf(row: unknown): readonly PatchedPath[] {
  const { op, path, hook } = fieldsOf(row);
  if ((op !== 'add' && op !== 'remove') || typeof path !== 'string' || typeof hook !== 'string') return [];
  return parsePointer(path) === undefined ? [] : [{ op, path, hook }];
}

/** A valid flag of a note, else nothing. */
function flagOf(row: unknown): SetByHooks['flags'] {
  const { key: text, isEnabled, hook } = fieldsOf(row);
  const key = typeof text === 'string' ? asModuleKey(text) : undefined;
  if (key === undefined || typeof isEnabled !== 'boolean' || typeof hook !== 'string') return [];
  return [{ key, isEnabled, hook }];
}
