import type { Journal } from '../journal/journal.ts';
import type { WellFacts } from '../journal/wells.ts';
import { filesDigest } from '../modules/file-set.ts';
import type { Module } from '../modules/module.ts';
import { GLOBAL_SECTION, sectionOf } from '../values/module-key.ts';
import { layeredValues } from '../values/value-layers.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { ModuleMemory } from './module-memory.ts';

export interface WellFactsParts {
  readonly values: ValuesStore;
  readonly memory: Pick<ModuleMemory, 'filesOf'>;
  readonly journal: Pick<Journal, 'knownValues'>;
}

/** What a run of the module depends on, as it is now. */
export function wellFacts({ values, memory, journal }: WellFactsParts, module: Module): WellFacts {
  const files = memory.filesOf(module.name);
  return {
    version: module.version ?? '',
    files: files === undefined ? '' : filesDigest(files.digests),
    sections: ([module.name, GLOBAL_SECTION] as const).map((owner) => ({
      name: sectionOf(owner),
      values: journal.knownValues(
        layeredValues(values, owner).map(({ pointer, value, layer, hook }) => ({
          pointer,
          value,
          source: hook === '' ? layer : `hook ${hook}`,
        })),
      ),
    })),
  };
}
