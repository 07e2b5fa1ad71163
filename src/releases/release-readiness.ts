/** Whether the objects of a release are ready, for the gates of a new version. */

import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { identityOf, type ManifestObject, objectTitle } from '@addon-operator/helm/manifest-object';
import {
  type LookupOptions,
  MAX_READS_AT_ONCE,
  readManifestObject,
} from '@addon-operator/helm/object-lookup';
import { manifestObjects } from '@addon-operator/helm/transform-manifest';
import { readPodTrouble } from '@addon-operator/kube-client/pod-trouble';
import { whyNotReady } from '@addon-operator/kube-client/readiness';
import { parseHelmYaml } from '@addon-operator/yaml';
import type { HelmDriver } from './helm-driver.ts';

/**
 * Why the first object of a release that is not ready is not; undefined when all are, and without a release.
 *
 * @throws KubeApiError, OperatorError when the release or an object cannot be read
 */
export async function whyReleaseNotReady(
  release: string,
  helm: Pick<HelmDriver, 'manifest'>,
  lookup: LookupOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const readYaml = (text: string): unknown => parseHelmYaml(text, 'deployed manifest');
  const objects = manifestObjects(await helm.manifest(release, signal), readYaml).map(identityOf);
  const reasons = await mapParallel(objects, MAX_READS_AT_ONCE, (object) =>
    whyObjectNotReady(object, lookup, signal),
  );
  return reasons.find((reason) => reason !== undefined);
}

async function whyObjectNotReady(
  object: ManifestObject,
  lookup: LookupOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await readManifestObject(object, lookup, signal);
  const reason = live === undefined ? 'it does not exist' : whyNotReady(live);
  if (live === undefined || reason === undefined) return reason && `${objectTitle(object)}: ${reason}`;
  // The status rarely says why a workload is not ready, but its pods do.
  const trouble = await readPodTrouble(live, lookup.kube, signal);
  return `${objectTitle(object)}: ${[reason, trouble].filter((text) => text !== undefined).join(', ')}`;
}
