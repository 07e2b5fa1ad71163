import type { Module } from '../../src/modules/module.ts';
import { NO_MANIFEST } from '../../src/modules/module-manifest.ts';
import { parseModuleName } from '../../src/modules/module-name.ts';
import { keyOfName } from '../../src/values/module-key.ts';

/** A module of which nothing is known but its name, and what `facts` say. */
export function moduleNamed(text: string, facts: Partial<Module> = {}): Module {
  const name = parseModuleName(text);
  return {
    name,
    key: keyOfName(name),
    order: 1,
    path: `/modules/${name}`,
    chart: 'none',
    enabledScript: undefined,
    ownFlag: undefined,
    staticValues: {},
    manifest: NO_MANIFEST,
    version: undefined,
    ...facts,
  };
}
