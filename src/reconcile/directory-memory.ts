import { isObject, parseJson } from '@addon-operator/json';
import {
  type ConfigMapRef,
  changeConfigMapData,
  readConfigMapData,
} from '@addon-operator/kube-client/config-map-object';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { DirectoryMemory, ModulesDirectory } from '../model/purge-guard.ts';

const KEY = 'directories';

/** Keeps in the ConfigMap `ref` which modules directories held modules: a daemon that restarts without its volume knows nothing else. */
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
