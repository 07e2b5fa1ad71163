import { hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import {
  type ManifestDocument,
  parseManifest,
  rewriteDocument,
} from '@addon-operator/helm/manifest-document';
import { identityOf, type ManifestObject, objectTitle } from '@addon-operator/helm/manifest-object';
import type { ReleaseRevision, ReleaseStore } from '@addon-operator/helm/release-store';
import { apiVersionOf } from '@addon-operator/kube-client/kube-object';
import { SCALAR_STYLE, type ScalarNode } from 'js-yaml';
import type { DriverContext } from './driver-context.ts';

interface Context {
  readonly store: Pick<ReleaseStore, 'payload' | 'setManifest'>;
  readonly log: Logger;
  readonly discovery: Pick<DriverContext['discovery'], 'find' | 'rediscover'>;
}

/**
 * Repairs a record that contains kinds the cluster no longer serves, since helm neither upgrades
 * nor uninstalls such a release. Objects get another served version of their group; without one
 * they are removed from the record and named in a warning.
 *
 * @throws OperatorError HELM_RELEASE_CORRUPT; KubeApiError 409 when another client changed the
 *   record
 */
export async function replaceUnservedKinds(
  context: Context,
  revision: ReleaseRevision,
  signal: AbortSignal,
): Promise<void> {
  const { manifest } = await context.store.payload(revision, signal);
  const left: string[] = [];
  const removed: string[] = [];
  let isChanged = false;
  for (const document of parseManifest(manifest)) {
    if (document.object === undefined) continue;
    const identity = identityOf(document.object);
    const served = await servedVersion(context, identity, signal);
    isChanged ||= served !== identity.apiVersion;
    if (served === undefined) removed.push(`${objectTitle(identity)} (${identity.apiVersion})`);
    else left.push(served === identity.apiVersion ? document.text : withApiVersion(document, served));
  }
  if (!isChanged) return;
  await context.store.setManifest(revision, left.map((text) => `---\n${text.trim()}\n`).join(''), signal);
  context.log.warn(
    { release: revision.release, revision: revision.revision, removed },
    'kinds in the release record are no longer served: the record now uses other versions or omits the objects',
  );
}

/**
 * The version in which an object's kind is served; undefined only if the API server itself says
 * that there is none. An error page of a proxy, or an aggregated API that is down, must not remove
 * anything from a record.
 */
export async function servedVersion(
  { discovery }: Pick<Context, 'discovery'>,
  { apiVersion, kind }: ManifestObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await discovery.find(apiVersion, kind, signal);
    return apiVersion;
  } catch (error) {
    if (!hasCode(error, 'KUBE_KIND_UNKNOWN')) throw error;
  }
  // Asked again: the cached discovery may be older than the kind.
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  try {
    const served = await discovery.rediscover({ group, version, kind }, signal);
    return served && apiVersionOf(served);
  } catch {
    signal.throwIfAborted();
    return apiVersion;
  }
}

function withApiVersion(document: ManifestDocument, apiVersion: string): string {
  return rewriteDocument(document, ({ contents }) => {
    if (contents?.kind !== 'mapping') return;
    const item = contents.items.find(({ key }) => key.kind === 'scalar' && key.value === 'apiVersion');
    if (item !== undefined) item.value = plainText(apiVersion);
  });
}

function plainText(value: string): ScalarNode {
  return { kind: 'scalar', tag: 'tag:yaml.org,2002:str', tagged: false, style: SCALAR_STYLE.PLAIN, value };
}
