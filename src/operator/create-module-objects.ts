import type { KubeClient } from '../kube/kube-client.ts';
import type { SharedReflectors } from '../kube/reflector-sink.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Redactor } from '../lib/redactor.ts';
import type { Settings } from '../settings.ts';
import type { ModuleFacts } from '../status/module-facts.ts';
import { ModuleObjects } from '../status/module-objects.ts';
import { finishDeletion } from './finish-deletion.ts';
import { moduleFacts } from './module-facts.ts';
import type { Operator } from './operator.ts';

export interface ModuleObjectsPartOptions {
  readonly settings: Pick<Settings, 'keepsModuleObjects' | 'namespace' | 'configMapName'>;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  readonly operator: () => Operator | undefined;
  readonly redactor: Redactor;
}

/** The mirror of modules in the cluster; undefined when the settings switch it off. Nothing runs yet. */
export function createModuleObjects(options: ModuleObjectsPartOptions): ModuleObjects | undefined {
  const { settings, host, kube, reflectors, operator, redactor } = options;
  if (!settings.keepsModuleObjects) return undefined;
  return new ModuleObjects({
    kube,
    reflectors,
    clock: host.clock,
    log: host.log,
    namespace: settings.namespace,
    configMapName: settings.configMapName,
    finishDeletion: async (module, signal) => {
      const known = operator();
      return known === undefined ? 'too early' : await finishDeletion(known, module, signal);
    },
    mayRemove: () => (operator()?.converge.purge ?? 'undecided') !== 'undecided',
    redact: (text) => redactor.text(text),
    facts: () => {
      const known = operator();
      if (known === undefined) return [];
      // The same shape comes back: only texts are replaced.
      return redactor.data(moduleFacts(known)) as readonly ModuleFacts[];
    },
  });
}
