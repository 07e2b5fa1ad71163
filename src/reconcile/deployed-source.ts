import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { filesDigest } from '../modules/file-set.ts';
import type { Module } from '../modules/module.ts';
import type { DeployedSource } from '../releases/record-source.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { ModuleMemory } from './module-memory.ts';

interface ReleaseSourceParts {
  readonly values: Pick<ValuesStore, 'configValues'>;
  readonly memory: Pick<ModuleMemory, 'filesOf'>;
}

/** The source of a release of the module; undefined where its files are not remembered. */
export function releaseSource(
  { values, memory }: ReleaseSourceParts,
  { name, path, version }: Module,
): DeployedSource | undefined {
  const files = memory.filesOf(name);
  if (files === undefined) return undefined;
  const textOf = async (file: string): Promise<string | undefined> => {
    try {
      return await readFile(join(path, 'openapi', file), 'utf8');
    } catch (error) {
      if (isMissingFile(error)) return undefined;
      throw error;
    }
  };
  return {
    files: filesDigest(files.digests),
    version,
    section: values.configValues(name),
    schemas: async () => {
      const [config, own] = await Promise.all([textOf('config-values.yaml'), textOf('values.yaml')]);
      return { config, values: own };
    },
  };
}
