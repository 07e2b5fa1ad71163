import { isObject, parseJson } from '@addon-operator/json';
import {
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { DirectoryMemory, ModulesDirectory } from '../model/purge-guard.ts';

const KEY = 'directories';

/**
 * The record of modules directories in the ConfigMap `ref`. A daemon that restarts without its
 * volume has no other way to know that there were modules.
 */
export function directoryMemory(kube: KubeClient, ref: ConfigMapRef): DirectoryMemory {
  return {
    read: async (signal) => parseDirectories((await readConfigMapData(kube, ref, signal))[KEY]),
    write: (directories, signal) =>
      changeConfigMapData(kube, ref, (data) => ({ ...data, [KEY]: JSON.stringify(directories) }), signal),
  };
}

/** A record that cannot be parsed counts as missing: then more releases are held, not fewer. */
function parseDirectories(text: string | undefined): readonly ModulesDirectory[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    return Array.isArray(value) ? value.filter(isDirectory) : undefined;
  } catch {
    return undefined;
  }
}

function isDirectory(value: unknown): value is ModulesDirectory {
  return isObject(value) && typeof value['path'] === 'string' && Array.isArray(value['modules']);
}
