import type { HelmDriver } from '../helm/helm-driver.ts';
import type { HttpHooks } from '../hooks/http/http-hooks.ts';
import type { Discovery } from '../kube/discovery.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import type { Redactor } from '../lib/redactor.ts';
import type { Operator } from '../operator/operator.ts';

/** The parts below the operator that a plan asks. */
export interface InspectedParts {
  readonly helm: HelmDriver;
  readonly http: HttpHooks;
  readonly cluster: {
    /** For reading releases and their objects. */
    readonly helm: KubeClient;
    readonly discovery: Discovery;
  };
}

/** The parts of a daemon on the directories and the cluster of the settings, put together but not at work. */
export interface Inspection {
  readonly operator: Operator;
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
