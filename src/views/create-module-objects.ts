import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { Redactor } from '@addon-operator/masking/redactor';
import { type FinishDeletionParts, finishDeletion } from '../reconcile/finish-deletion.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { ModuleSettings } from '../settings/module-settings.ts';
import type { ModuleFacts } from '../status/module-facts.ts';
import { ModuleObjects, type ModuleSource } from '../status/module-objects.ts';
import { moduleFacts } from './collect-module-facts.ts';
import type { Explained } from './explained.ts';

/** The parts that write Module objects. */
export interface ModuleObjectsPartOptions {
  readonly settings: InstanceSettings & Pick<ModuleSettings, 'keepsModuleObjects'>;
  readonly host: { readonly clock: Clock; readonly log: Logger };
  readonly kube: KubeClient;
  readonly reflectors: SharedReflectors;
  readonly redactor: Redactor;
}

/**
 * Creates the Module objects, which show the status of modules in the cluster; undefined when the
 * settings switch them off. Nothing runs yet.
 */
export function createModuleObjects(options: ModuleObjectsPartOptions): ModuleObjects | undefined {
  const { settings, host, kube, reflectors, redactor } = options;
  if (!settings.keepsModuleObjects) return undefined;
  return new ModuleObjects({
    kube,
    reflectors,
    clock: host.clock,
    log: host.log,
    namespace: settings.namespace,
    configMapName: settings.configMapName,
    redact: (text) => redactor.text(text),
  });
}

/** The source of the Module objects: the facts of all modules, masked. */
export function moduleSource(
  operator: Explained,
  deletion: FinishDeletionParts,
  redactor: Redactor,
): ModuleSource {
  return {
    finishDeletion: (module, signal) => finishDeletion(deletion, module, signal),
    // Before the clean-up of releases an object may still belong to a held release.
    mayRemove: () => operator.converge.purge !== 'undecided',
    // Masking replaces strings only, so the shape is the same.
    facts: () => redactor.data(moduleFacts(operator)) as readonly ModuleFacts[],
  };
}
