import { isOwned } from '@addon-operator/helm/record-metadata';
import { ReleaseStore, type StorageDriver } from '@addon-operator/helm/release-store';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';

/**
 * Names of the releases in a namespace, in any state, that carry the label of this operator. Needs no helm: it is read
 * before the first module is.
 *
 * @throws KubeApiError, OperatorError KUBE_UNREACHABLE
 */
export async function ownedReleases(
  kube: KubeClient,
  {
    namespace,
    helmDriver: storageDriver,
  }: { readonly namespace: string; readonly helmDriver: StorageDriver },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const releases = await new ReleaseStore({ kube, namespace, storageDriver }).latestOfAll(signal);
  return releases.filter(({ labels }) => isOwned(labels)).map(({ release }) => release);
}
