/**
 * Attributes each merged value to the layer that it comes from, for the page and the API. The store merges layers without
 * keeping origins, so they are derived here: a patch of a hook wins, then the ConfigMap, then files, else it is a default.
 */

import type { Json } from '@addon-operator/json';
import { isJsonMap } from '@addon-operator/json/merge';
import { escapeSegment } from '@addon-operator/json/pointer';
import { sectionOf, type ValuesOwner } from './module-key.ts';
import type { PatchList } from './section-patch.ts';
import type { ValuesStore } from './values-store.ts';

/** Where a value comes from, the strongest first. */
export type Layer = 'hook' | 'config-map' | 'files' | 'default';

/** A value that is no map, or an empty map. */
export interface LayeredLeaf {
  /** JSON pointer below the section. */
  readonly pointer: string;
  readonly value: Json;
  readonly layer: Layer;
  /** Name of the hook that set it; empty for other layers, and where it is not known. */
  readonly hook: string;
  /** Values of weaker layers in its place, the strongest first; defaults are not listed. */
  readonly below: readonly { readonly layer: Layer; readonly value: Json }[];
}

interface Sources {
  readonly config: Json | undefined;
  readonly files: Json | undefined;
}

/** The merged values of an owner with the layer that each comes from. References to Secrets are as they are written. */
export function layeredValues(store: ValuesStore, owner: ValuesOwner): readonly LayeredLeaf[] {
  const sources = { config: store.configValues(owner) ?? {}, files: store.fileValues(owner) };
  const prefix = `/${escapeSegment(sectionOf(owner))}`;
  const hookOf = hookFinder(store.patches(owner), prefix);
  return [...leaves(store.writtenValues(owner), sources, '')].map(({ pointer, value, config, files }) => {
    const hook = hookOf(pointer);
    const known = [
      ...(config === undefined ? [] : [{ layer: 'config-map' as const, value: config }]),
      ...(files === undefined ? [] : [{ layer: 'files' as const, value: files }]),
    ];
    if (hook !== undefined) return { pointer, value, layer: 'hook' as const, hook, below: known };
    const [first, ...below] = known;
    return { pointer, value, layer: first?.layer ?? ('default' as const), hook: '', below };
  });
}

/** Descends into maps only; a list is one value, as in the merge. */
function* leaves(
  value: Json,
  { config, files }: Sources,
  pointer: string,
): Generator<Sources & { readonly pointer: string; readonly value: Json }> {
  if (!isJsonMap(value) || (Object.keys(value).length === 0 && pointer !== '')) {
    yield { pointer, value, config, files };
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const below = { config: childOf(config, key), files: childOf(files, key) };
    yield* leaves(item, below, `${pointer}/${escapeSegment(key)}`);
  }
}

function childOf(value: Json | undefined, key: string): Json | undefined {
  return isJsonMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The hook that set what is at a pointer, in whole or in part; undefined if no hook did. */
function hookFinder(patches: PatchList, prefix: string): (pointer: string) => string | undefined {
  const hooks = new Map(patches.map(({ path, hook = '' }) => [path, hook]));
  return (pointer) => {
    const whole = `${prefix}${pointer}`;
    // A hook set something below this leaf: an item of a list, or of a map that is empty now.
    const inside = patches.find(({ path }) => path.startsWith(`${whole}/`));
    if (inside !== undefined) return inside.hook ?? '';
    // The nearest one: it was applied after those above it.
    for (let end = whole.length; end > 0; end = whole.lastIndexOf('/', end - 1)) {
      const hook = hooks.get(whole.slice(0, end));
      if (hook !== undefined) return hook;
    }
    return undefined;
  };
}
