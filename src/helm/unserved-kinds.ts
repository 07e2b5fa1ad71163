import { SCALAR_STYLE, type ScalarNode } from 'js-yaml';
import { readResourceList } from '../kube/discovery-documents.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { groupVersionPath } from '../kube/kube-object.ts';
import { requestIfPresent } from '../kube/request-if-present.ts';
import { hasCode } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { DriverContext } from './driver-context.ts';
import { type ManifestDocument, parseManifest, rewriteDocument } from './manifest-document.ts';
import { identityOf, type ManifestObject, objectTitle } from './manifest-object.ts';
import type { ReleaseRevision, ReleaseStore } from './release-store.ts';

interface Context {
  readonly store: Pick<ReleaseStore, 'payload' | 'setManifest'>;
  readonly log: Logger;
  readonly kube: Pick<KubeClient, 'request'>;
  readonly discovery: Pick<DriverContext['discovery'], 'find' | 'apiVersions'>;
}

/**
 * Mends a record with objects of kinds that the cluster does not serve any more, for helm neither upgrades nor
 * uninstalls such a release. Where another version of their group is served they get that one; else they are taken out
 * of the record, and named in a warning.
 *
 * @throws OperatorError HELM_RELEASE_CORRUPT; KubeApiError 409 when somebody changed the record meanwhile
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
    'kinds in the record of the release are not served any more: it names other versions now, or does without them',
  );
}

/** Under which version the kind of an object is served; undefined when it is certain that there is none. */
async function servedVersion(
  context: Context,
  { apiVersion, kind }: ManifestObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (await isServed(context, apiVersion, kind, signal)) return apiVersion;
  const [group] = apiVersion.split('/', 1);
  const others = (await context.discovery.apiVersions(signal)).map((name) => name.split('/'));
  const other = others.find((parts) => parts.length === 3 && parts[0] === group && parts[2] === kind);
  return other?.slice(0, 2).join('/');
}

async function isServed(
  { kube, discovery }: Context,
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await discovery.find(apiVersion, kind, signal);
    return true;
  } catch (error) {
    if (!hasCode(error, 'KUBE_KIND_UNKNOWN')) throw error;
  }
  try {
    // Behind an aggregated API there may be a server that is down: that is not 404.
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const path = groupVersionPath({ group, version });
    const list = await requestIfPresent(kube, { method: 'GET', path }, signal);
    return readResourceList(group, version, list).some((resource) => resource.kind === kind);
  } catch {
    signal.throwIfAborted();
    return true;
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
