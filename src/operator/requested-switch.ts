import type { JsonObject } from '@addon-operator/json';
import type { ModuleSwitch, SwitchRequest } from '../delivery/module-switch.ts';
import type { SwitchRequests } from '../model/switch-requests.ts';
import { FILES_CHANGED } from '../model/tasks.ts';
import type { ModuleStore } from '../module-store/module-store.ts';
import { parseDirectoryName } from '../modules/module-name.ts';
import type { TaskRouter } from '../queues/task-router.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import { sectionOf } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';

export interface ModuleSwitchParts {
  readonly requests: SwitchRequests;
  readonly router: { readonly main: Pick<TaskRouter['main'], 'prepend' | 'cutDelay'> };
  readonly store: Pick<ModuleStore, 'unlink'>;
}

/** Lets others switch modules: queues the tasks, and passes on their outcomes. */
export function createModuleSwitch({ requests, router, store }: ModuleSwitchParts): ModuleSwitch {
  const queue = (module: string): void => {
    router.main.prepend({
      type: 'ReloadFiles',
      saved: [],
      modules: new Set([module]),
      trigger: FILES_CHANGED,
    });
    router.main.cutDelay();
  };
  return {
    switch: (request, signal) => {
      const outcome = requests.add(request, signal);
      queue(request.module);
      return outcome;
    },
    remove: async (entry) => {
      await store.unlink(entry);
      queue(parseDirectoryName(entry).name);
    },
  };
}

/** The module store and the ConfigMap, which a requested switch changes. */
export interface StoredSwitch {
  /** The modules directory of the store. */
  readonly currentDir: string;
  pathOf(digest: string): string;
  /** The digest of a directory in the store; undefined for others. */
  digestOf(path: string): string | undefined;
  /**
   * Writes the section of the ConfigMap, if there is one, then switches the link.
   *
   * @throws OperatorError; nothing is changed then
   */
  commit(request: SwitchRequest, section: JsonObject | undefined, signal: AbortSignal): Promise<void>;
}

export function storedSwitch(
  store: Pick<ModuleStore, 'currentDir' | 'digestOf' | 'link' | 'pathOf'>,
  configMap: Pick<ConfigMapStore, 'save'>,
  values: Pick<ValuesStore, 'configValues'>,
): StoredSwitch {
  return {
    currentDir: store.currentDir,
    pathOf: (digest) => store.pathOf(digest),
    digestOf: (path) => store.digestOf(path),
    commit: async ({ module, entry, digest }, section, signal) => {
      const { name } = parseDirectoryName(module);
      const before = values.configValues(name) ?? {};
      const save = async (value: JsonObject): Promise<void> => {
        const operation = { op: 'add', path: `/${sectionOf(name)}`, value } as const;
        await configMap.save(name, [operation], () => undefined, signal);
      };
      if (section !== undefined) await save(section);
      try {
        await store.link(entry, digest);
      } catch (error) {
        if (section !== undefined) await save(before);
        throw error;
      }
    },
  };
}
