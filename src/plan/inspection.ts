/** The parts of an operator that plans and other read-only commands use; `app/inspect.ts` creates them. */

import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import type { DynamicFlags } from '../model/dynamic-flags.ts';
import type { GlobalHooks } from '../model/global-hooks.ts';
import type { Pauses } from '../model/pauses.ts';
import type { DirectoryMemory } from '../model/purge-guard.ts';
import type { ModuleExtensions, ModuleSources } from '../model/services.ts';
import type { ModuleMemory } from '../reconcile/module-memory.ts';
import type { PurgeInputParts } from '../reconcile/purge-releases.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { ValuesStore } from '../values/values-store.ts';

/** The parts of the operator that a plan uses. */
interface InspectedOperator extends PurgeInputParts {
  readonly globalHooks: GlobalHooks;
  readonly values: ValuesStore;
  readonly dynamicFlags: DynamicFlags;
  readonly pauses: Pick<Pauses, 'of'>;
  readonly sources: Pick<
    ModuleSources,
    'discover' | 'loadGlobalHooks' | 'loadModuleHooks' | 'modulesDirectories'
  >;
  readonly extensions: Pick<ModuleExtensions, 'releaseSteps'>;
  readonly directoryMemory: Pick<DirectoryMemory, 'read'>;
  readonly memory: Pick<ModuleMemory, 'names'>;
  /** The newest valid content of the ConfigMap. */
  readonly configMapContent: () => ConfigMapContent;
}

/** The parts below the operator that a plan uses. */
interface InspectedParts {
  readonly helm: HelmDriver;
  readonly http: HttpHooks;
  readonly cluster: {
    /** For reading releases and their objects. */
    readonly helm: KubeClient;
    readonly discovery: Discovery;
  };
}

/** The parts of a daemon on the directories and the cluster of the settings, created but not started. */
export interface Inspection {
  readonly operator: InspectedOperator;
  readonly base: InspectedParts;
  /** Namespace of all releases. */
  readonly namespace: string;
  /** CRD files whose names begin so are left out. */
  readonly crdFilterPrefixes: readonly string[];
  /** Set on every CRD of a module. */
  readonly crdExtraLabels: Readonly<Record<string, string>>;
  /** Takes the texts of Secrets that values refer to out of what is shown. */
  readonly redactor: Redactor;
  /** Whether values of a module, or global ones, may refer to Secrets. */
  readonly hasSecretReferences: (module: string) => boolean;
}
