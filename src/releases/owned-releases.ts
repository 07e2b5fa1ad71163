import { isOwned } from '@addon-operator/helm/record-metadata';
import { ReleaseStore } from '@addon-operator/helm/release-store';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';

/**
 * Names of the releases in a namespace, in any state, that carry the label of this operator. Needs
 * no helm, since it is called before the first module is read.
 *
 * @throws KubeApiError, OperatorError KUBE_UNREACHABLE
 */
export async function ownedReleases(
  kube: KubeClient,
  {
    namespace,
    helmDriver: storageDriver,
  }: Pick<InstanceSettings, 'namespace'> & Pick<HelmSettings, 'helmDriver'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const releases = await new ReleaseStore({ kube, namespace, storageDriver }).latestOfAll(signal);
  return releases.filter(({ labels }) => isOwned(labels)).map(({ release }) => release);
}
