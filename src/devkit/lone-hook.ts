import type { Redactor } from '@addon-operator/masking/redactor';
import type { KubernetesBinding } from '../hook-config/hook-config.ts';
import type { KubernetesEvent } from '../hook-config/kubernetes-binding.ts';
import type { HookExecution } from '../hook-runs/hook-execution.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import type { ConfigMapStore } from '../values/config-map-store.ts';
import type { ValuesStore } from '../values/values-store.ts';
import type { LoadedHook } from './loaded-hook.ts';
import type { ObjectWriter } from './object-writer.ts';

/** Gets the events of a hook. */
export type HookListener = (binding: KubernetesBinding, event: KubernetesEvent) => void;

/** One hook in operation, without an operator around it. */
export interface LoneHook {
  readonly runtime: HookRuntime;
  readonly execution: HookExecution;
  readonly registry: ModuleRegistry;
  readonly values: ValuesStore;
  readonly configMap: Pick<ConfigMapStore, 'content'>;
  /** Reads the ConfigMap again, after it was changed. @throws OperatorError when it cannot be used */
  readonly reloadConfig: () => Promise<void>;
  /** Called with each event of its kubernetes bindings. */
  readonly listeners: Set<HookListener>;
  /** Writes objects of users, apart from what the hook writes. */
  readonly objects: ObjectWriter;
  /** The data from files, to put the hook into operation once more. */
  readonly loaded: LoadedHook;
  /** Takes the content of Secrets that values refer to out of what is shown. */
  readonly redactor: Redactor;
}
