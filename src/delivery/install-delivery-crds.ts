import { type InstalledCrd, installCrd } from '@addon-operator/kube-client/install-crd';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { DELIVERY_GROUP, MODULE_INSTALL_CRD, MODULE_SOURCE_CRD } from './delivery-crds.ts';

/**
 * Brings the definitions of ModuleSource and ModuleInstall into the cluster.
 *
 * @returns `areNew`: that of ModuleInstall was missing, so that no object there can be a decision about a module
 * @throws KubeApiError when one is missing or old and may not be written; OperatorError KUBE_UNREACHABLE
 */
export async function installDeliveryCrds(
  kube: KubeClient,
  signal: AbortSignal,
): Promise<{ readonly areNew: boolean }> {
  const annotation = `${DELIVERY_GROUP}/crd-revision`;
  const results: InstalledCrd[] = [];
  for (const crd of [MODULE_SOURCE_CRD, MODULE_INSTALL_CRD])
    results.push(await installCrd(kube, crd, annotation, signal));
  return { areNew: results.at(-1) === 'created' };
}
