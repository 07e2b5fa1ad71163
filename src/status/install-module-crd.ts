import { installCrd } from '@addon-operator/kube-client/install-crd';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { CRD_REVISION_ANNOTATION, MODULE_CRD } from './module-crd.ts';

/**
 * Brings the definition of Modules into the cluster.
 *
 * @returns whether anything was written, so that it takes a moment until Modules are served
 * @throws KubeApiError when it is missing or old and may not be written; OperatorError KUBE_UNREACHABLE
 */
export async function installModuleCrd(kube: KubeClient, signal: AbortSignal): Promise<boolean> {
  return (await installCrd(kube, MODULE_CRD, CRD_REVISION_ANNOTATION, signal)) !== 'unchanged';
}
