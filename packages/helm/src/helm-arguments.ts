import { formatGoDuration } from '@addon-operator/strings/go-duration';
import { canTakeOwnership, type HelmBinary } from './find-helm.ts';

interface ReleaseTarget {
  readonly release: string;
  readonly namespace: string;
  /** Context of the kubeconfig to use; undefined uses its current one. */
  readonly kubeContext?: string;
}

interface UpgradeArguments extends ReleaseTarget {
  readonly chartDir: string;
  readonly valuesFile: string;
  /** Revisions to keep; 0 keeps all. */
  readonly historyMax: number;
  /** For each helm hook, in milliseconds. */
  readonly timeoutMs: number;
  /** For the release record. */
  readonly labels: Readonly<Record<string, string>>;
  readonly postRenderer: readonly string[];
  /** Whether helm may take fields that others have set. */
  readonly isForced: boolean;
  /** Whether there are records of the release although it is installed: of an uninstall that kept them, or of installs that failed. */
  readonly isReplaced?: boolean;
}

/**
 * `helm upgrade --install`, waiting for nothing but helm hooks. helm 4 applies on the server; with force the
 * result of that is what helm 3 does, whichever manager owns a field.
 *
 * A release with records is installed with `helm install --replace`. `upgrade --install` takes a failed install for something to
 * upgrade, and skips its hooks; it searches for an uninstalled one in the record whose name sorts last, and after `v10` that
 * is the one of `v9`.
 */
export function upgradeArguments(helm: HelmBinary, options: UpgradeArguments): string[] {
  const labels = Object.entries(options.labels).map(([key, value]) => `${key}=${value}`);
  const isReplaced = options.isReplaced === true;
  return [
    ...(isReplaced ? ['install', '--replace'] : ['upgrade', '--install']),
    ...target(options),
    '--values',
    options.valuesFile,
    ...(isReplaced ? [] : ['--history-max', String(options.historyMax)]),
    '--timeout',
    formatGoDuration(options.timeoutMs),
    '--skip-crds',
    // The API server validates every object anyway; helm would read the whole OpenAPI document for the same result.
    '--disable-openapi-validation',
    '--labels',
    labels.join(','),
    ...(canTakeOwnership(helm) ? ['--take-ownership'] : []),
    ...(helm.major === 4 ? ['--server-side=true', ...(options.isForced ? ['--force-conflicts'] : [])] : []),
    ...options.postRenderer,
    '--',
    options.release,
    options.chartDir,
  ];
}

/** `helm uninstall`, history included. Only with `--debug` it prints why it cannot delete something. */
export function uninstallArguments(options: ReleaseTarget & { readonly timeoutMs: number }): string[] {
  const timeout = formatGoDuration(options.timeoutMs);
  return ['uninstall', ...target(options), '--timeout', timeout, '--debug', '--', options.release];
}

interface RollbackArguments extends ReleaseTarget {
  readonly revision: number;
  readonly historyMax: number;
  readonly timeoutMs: number;
}

/** `helm rollback` to a revision, waiting for nothing but helm hooks, with the fields of others overwritten as in an upgrade. */
export function rollbackArguments(helm: HelmBinary, options: RollbackArguments): string[] {
  return [
    'rollback',
    ...target(options),
    '--history-max',
    String(options.historyMax),
    '--timeout',
    formatGoDuration(options.timeoutMs),
    ...(helm.major === 4 ? ['--server-side=true', '--force-conflicts'] : []),
    '--',
    options.release,
    String(options.revision),
  ];
}

export interface TemplateArguments extends ReleaseTarget {
  readonly chartDir: string;
  readonly valuesFile: string;
  /** For instance `v1.34.2`; undefined takes what helm assumes. */
  readonly kubeVersion?: string;
  readonly apiVersions: readonly string[];
  /** Whether the manifests of helm hooks are among the output; default false. */
  readonly hasHooks?: boolean;
  /** Whether manifests that are no valid YAML are printed too; default false. */
  readonly isDebug?: boolean;
  /** Whether templates may read objects of the cluster (`lookup`); default false. */
  readonly readsCluster?: boolean;
}

/** `helm template`, as an upgrade and the first revision: no CRDs, and no lookup unless requested. */
export function templateArguments(options: TemplateArguments): string[] {
  return [
    'template',
    ...target(options),
    '--values',
    options.valuesFile,
    '--is-upgrade',
    ...(options.hasHooks === true ? [] : ['--no-hooks']),
    ...(options.isDebug === true ? ['--debug'] : []),
    ...(options.readsCluster === true ? ['--dry-run=server'] : []),
    '--skip-crds',
    ...(options.kubeVersion === undefined ? [] : ['--kube-version', options.kubeVersion]),
    ...(options.apiVersions.length === 0 ? [] : ['--api-versions', options.apiVersions.join(',')]),
    '--',
    options.release,
    options.chartDir,
  ];
}

function target({ namespace, kubeContext }: ReleaseTarget): string[] {
  const context = kubeContext === undefined || kubeContext === '' ? [] : ['--kube-context', kubeContext];
  return ['--namespace', namespace, ...context];
}
