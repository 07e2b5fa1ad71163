// Helm's release records, read and repaired without helm. Lists read metadata only, since a record may be a
// megabyte; payloads are decoded when they are needed and cached by version. Repairs (marking a pending
// revision failed, setting a corrupt record aside) use the version that was read, so that a helm that is
// running at the same time wins.

import { Buffer } from 'node:buffer';
import { fieldsOf, isObject } from '@addon-operator/json';
import {
  hasStatus,
  type KubeClient,
  type KubeRequest,
  listMetadata,
  metadataAccept,
  metadataOf,
  requestIfPresent,
} from '@addon-operator/kube-client/kube-client';
import type { ManifestObject } from './manifest-object.ts';
import {
  labelsWhenMarkedFailed,
  NOTE_ANNOTATION,
  OBJECTS_ANNOTATION,
  parseObjectList,
} from './record-metadata.ts';
import type { ReleaseStatus } from './recovery-table.ts';
import {
  decodeRelease,
  encodeRelease,
  type ReleasePayload,
  releasePayload,
  releaseStatus,
  withStatus,
} from './release-record.ts';

/** One revision of a release, read from the metadata of its record. */
export interface ReleaseRevision {
  readonly release: string;
  readonly revision: number;
  readonly status: ReleaseStatus;
  /** All labels of the record, helm's own among them. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its objects, if they are recorded in an annotation. */
  readonly objects: readonly ManifestObject[] | undefined;
  /** The note of its deployment. */
  readonly note?: string;
  /** Name of the Secret or ConfigMap. */
  readonly recordName: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface ReleaseStoreOptions {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly storageDriver: StorageDriver;
}

/** `HELM_DRIVER`: where helm keeps its records; it knows the plurals too. */
export type StorageDriver = 'secret' | 'secrets' | 'configmap' | 'configmaps';

/** Names the release on an object with the source of one of its revisions. */
const SOURCE_LABEL = 'addon-operator/source-of';
const SOURCE_SUFFIX = '.source';
const FIELD_MANAGER = 'addon-operator';
/** Names the release on a record that was set aside. */
const CORRUPT_LABEL = 'addon-operator/corrupt-release';
const METADATA = metadataAccept('PartialObjectMetadata');
/** Decoded records kept in memory. */
const MAX_CACHED_PAYLOADS = 200;
/** Where helm keeps the record, by driver, and how often it is base64: Secrets add a layer of their own. */
const STORAGES = {
  secret: { kind: 'Secret', plural: 'secrets', isDoubleEncoded: true },
  configmap: { kind: 'ConfigMap', plural: 'configmaps', isDoubleEncoded: false },
} as const;

/** The release records in one namespace, read and repaired without helm. */
export class ReleaseStore {
  readonly #kube: KubeClient;
  readonly #collection: string;
  readonly #isDoubleEncoded: boolean;
  readonly #kind: 'Secret' | 'ConfigMap';
  /** Latest known revision of each release: it is read first. */
  readonly #known = new Map<string, ReleaseRevision>();
  readonly #payloads = new Map<string, ReleasePayload>();

  constructor({ kube, namespace, storageDriver }: ReleaseStoreOptions) {
    const storage = storageOf(storageDriver);
    this.#kube = kube;
    this.#collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/${storage.plural}`;
    this.#isDoubleEncoded = storage.isDoubleEncoded;
    this.#kind = storage.kind;
  }

  /** The newest revision of a release as far as it is known without a request; there may be a newer one, or none any more. */
  known(release: string): ReleaseRevision | undefined {
    return this.#known.get(release);
  }

  /** The newest revision of a release; undefined when there is none. */
  async latest(release: string, signal: AbortSignal): Promise<ReleaseRevision | undefined> {
    const known = this.#known.get(release)?.revision;
    const revision = known === undefined ? undefined : await this.#stillLatest(release, known, signal);
    if (revision !== undefined) {
      this.#known.set(release, revision);
      return revision;
    }
    const revisions = await this.#list(`owner=helm,name=${release}`, signal);
    const latest = revisions.reduce<ReleaseRevision | undefined>(newer, undefined);
    if (latest === undefined) this.#known.delete(release);
    else this.#known.set(release, latest);
    return latest;
  }

  /** The newest revision of a release that was deployed without failure; undefined when there is none. */
  async lastDeployed(release: string, signal: AbortSignal): Promise<ReleaseRevision | undefined> {
    const selector = `owner=helm,name=${release},status in (deployed,superseded)`;
    const revisions = await this.#list(selector, signal);
    return revisions.reduce<ReleaseRevision | undefined>(newer, undefined);
  }

  /** The newest revision of a release that is older than this one; undefined when there is none. */
  async before(
    { release, revision }: Pick<ReleaseRevision, 'release' | 'revision'>,
    signal: AbortSignal,
  ): Promise<ReleaseRevision | undefined> {
    const revisions = await this.history(release, signal);
    return revisions
      .filter((other) => other.revision < revision)
      .reduce<ReleaseRevision | undefined>(newer, undefined);
  }

  /** All revisions of a release that helm sees, the oldest first. */
  async history(release: string, signal: AbortSignal): Promise<readonly ReleaseRevision[]> {
    const revisions = await this.#list(`owner=helm,name=${release}`, signal);
    return revisions.toSorted((a, b) => a.revision - b.revision);
  }

  /** Whether records of a release were set aside because they cannot be read. */
  async hasUnreadable(release: string, signal: AbortSignal): Promise<boolean> {
    const found = await listMetadata(this.#kube, this.#collection, `${CORRUPT_LABEL}=${release}`, signal);
    return found.length > 0;
  }

  /** Deletes the record of a revision as it was seen. @throws KubeApiError 409 when it was changed since */
  async remove({ recordName, uid, resourceVersion }: ReleaseRevision, signal: AbortSignal): Promise<void> {
    const path = this.#recordPath(recordName);
    const body = { preconditions: { uid, resourceVersion } };
    await requestIfPresent(this.#kube, { method: 'DELETE', path, body }, signal);
  }

  /** The record in the place of a revision when it lacks the labels by which helm finds it; else undefined. */
  async unseen(release: string, revision: number, signal: AbortSignal): Promise<ReleaseRevision | undefined> {
    const path = this.#recordPath(recordName(release, revision));
    const record = await requestIfPresent(this.#kube, { method: 'GET', path, accept: METADATA }, signal);
    if (record === undefined) return undefined;
    const metadata = metadataOf(record);
    const labels = fieldsOf(metadata['labels']);
    if (labels['owner'] === 'helm' && labels['name'] === release) return undefined;
    return readRevision({ ...metadata, labels: { ...labels, name: release, version: String(revision) } });
  }

  /** The newest revision of every release, by release name. */
  async latestOfAll(signal: AbortSignal): Promise<readonly ReleaseRevision[]> {
    const latest = new Map<string, ReleaseRevision>();
    for (const revision of await this.#list('owner=helm', signal)) {
      latest.set(revision.release, newer(latest.get(revision.release), revision));
    }
    for (const revision of latest.values()) this.#known.set(revision.release, revision);
    return [...latest.values()].toSorted((a, b) => (a.release < b.release ? -1 : 1));
  }

  /** Every revision with a note, of any release. */
  async noted(signal: AbortSignal): Promise<readonly ReleaseRevision[]> {
    return (await this.#list('owner=helm', signal)).filter(({ note }) => note !== undefined);
  }

  /**
   * The record that helm stored about a revision.
   *
   * @throws OperatorError HELM_RELEASE_CORRUPT; KubeApiError when the record is gone
   */
  async payload(revision: ReleaseRevision, signal: AbortSignal): Promise<ReleasePayload> {
    const key = `${revision.uid}@${revision.resourceVersion}`;
    const cached = this.#payloads.get(key);
    if (cached !== undefined) return cached;
    const record = await this.#get(revision.recordName, signal);
    const payload = releasePayload(await decodeRelease(this.#encoded(record), revision.recordName));
    this.#payloads.set(key, payload);
    const [oldest] = this.#payloads.keys();
    if (this.#payloads.size > MAX_CACHED_PAYLOADS && oldest !== undefined) this.#payloads.delete(oldest);
    return payload;
  }

  /**
   * Sets the status of a revision that no helm process works on to `failed`, so that helm agrees to upgrade over it. The
   * revision itself stays in the history.
   *
   * @throws KubeApiError 409 when another client changed the record in the meantime
   */
  async markFailed(revision: ReleaseRevision, nowMs: number, signal: AbortSignal): Promise<void> {
    await this.#rewrite(
      revision,
      (release) =>
        withStatus(release, 'failed', `Marked failed by addon-operator: was left ${revision.status}`),
      {
        ...labelsWhenMarkedFailed(revision.status),
        status: 'failed',
        modifiedAt: String(Math.floor(nowMs / 1_000)),
      },
      signal,
    );
  }

  /**
   * Makes helm believe that a revision consists of other objects.
   *
   * @throws KubeApiError 409 when another client changed the record in the meantime
   */
  async setManifest(revision: ReleaseRevision, manifest: string, signal: AbortSignal): Promise<void> {
    await this.#rewrite(revision, (release) => ({ ...release, manifest }), {}, signal);
  }

  /**
   * Moves a record that cannot be read to another name, where helm does not look: it can still be examined.
   *
   * @returns the other name
   * @throws KubeApiError 409 when another client changed the record in the meantime
   */
  async setAside(
    { recordName, release, uid, resourceVersion }: ReleaseRevision,
    signal: AbortSignal,
  ): Promise<string> {
    const { metadata: _metadata, type: _type, ...rest } = await this.#get(recordName, signal);
    const name = `${recordName}.corrupt-${uid.slice(0, 8)}`;
    const body = { ...rest, metadata: { name, labels: { [CORRUPT_LABEL]: release } } };
    try {
      await this.#kube.request({ method: 'POST', path: this.#collection, body }, signal);
    } catch (error) {
      // An attempt before this one got so far.
      if (!hasStatus(error, 409)) throw error;
    }
    const preconditions = { uid, resourceVersion };
    await this.#kube.request(
      { method: 'DELETE', path: this.#recordPath(recordName), body: { preconditions } },
      signal,
    );
    this.#known.delete(release);
    return name;
  }

  /**
   * Sets labels, and other metadata, on the record of a revision and returns its new state; null removes a label.
   *
   * @returns undefined when the record does not exist
   */
  async setMetadata(
    release: string,
    revision: number,
    metadata: {
      readonly labels: Readonly<Record<string, string | null>>;
      readonly annotations?: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<ReleaseRevision | undefined> {
    const request: KubeRequest = {
      method: 'PATCH',
      path: this.#recordPath(recordName(release, revision)),
      contentType: 'application/merge-patch+json',
      body: { metadata },
    };
    const record = await requestIfPresent(this.#kube, request, signal);
    if (record === undefined) return undefined;
    const changed = readRevision(metadataOf(record));
    if (changed !== undefined) this.#known.set(release, changed);
    return changed;
  }

  /**
   * Keeps what a revision was deployed from, packed, in an object beside its record: helm removes
   * annotations from a record when a newer one takes its place. The record owns the object, so that
   * it goes with it, pruned or uninstalled.
   */
  async writeSource(
    { release, recordName: name, uid }: Pick<ReleaseRevision, 'release' | 'recordName' | 'uid'>,
    source: string,
    signal: AbortSignal,
  ): Promise<void> {
    const owner = { apiVersion: 'v1', kind: this.#kind, name, uid };
    const text = this.#isDoubleEncoded ? Buffer.from(source).toString('base64') : source;
    const request: KubeRequest = {
      method: 'PATCH',
      path: this.#recordPath(`${name}${SOURCE_SUFFIX}`),
      query: { fieldManager: FIELD_MANAGER, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: 'v1',
        kind: this.#kind,
        metadata: {
          name: `${name}${SOURCE_SUFFIX}`,
          labels: { [SOURCE_LABEL]: release },
          ownerReferences: [owner],
        },
        data: { source: text },
      },
    };
    await this.#kube.request(request, signal);
  }

  /** The sources of the revisions of a release, packed, by the names of their records. */
  async sources(release: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const query = { labelSelector: `${SOURCE_LABEL}=${release}` };
    const list = fieldsOf(await this.#kube.request({ method: 'GET', path: this.#collection, query }, signal));
    const items = Array.isArray(list['items']) ? list['items'].map(fieldsOf) : [];
    return new Map(
      items.map((item) => {
        const text = String(fieldsOf(item['data'])['source']);
        const name = String(metadataOf(item)['name']).slice(0, -SOURCE_SUFFIX.length);
        return [name, this.#isDoubleEncoded ? Buffer.from(text, 'base64').toString('utf8') : text];
      }),
    );
  }

  /**
   * The known revision, if it is there and has no successor. Two reads by name come from the database at once,
   * where a list waits up to 100 ms for the server's cache.
   */
  async #stillLatest(
    release: string,
    known: number,
    signal: AbortSignal,
  ): Promise<ReleaseRevision | undefined> {
    const [record, successor] = await Promise.all(
      [known, known + 1].map((revision) => {
        const path = this.#recordPath(recordName(release, revision));
        return requestIfPresent(this.#kube, { method: 'GET', path, accept: METADATA }, signal);
      }),
    );
    return record === undefined || successor !== undefined ? undefined : readRevision(metadataOf(record));
  }

  async #rewrite(
    { recordName, resourceVersion }: ReleaseRevision,
    change: (release: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
    changedLabels: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    const record = await this.#get(recordName, signal);
    const release = await decodeRelease(this.#encoded(record), recordName);
    const packed = await encodeRelease(change(release));
    const metadata = metadataOf(record);
    const labels = fieldsOf(metadata['labels']);
    const data = this.#isDoubleEncoded ? Buffer.from(packed).toString('base64') : packed;
    await this.#kube.request(
      {
        method: 'PUT',
        path: this.#recordPath(recordName),
        body: {
          ...record,
          metadata: { ...metadata, resourceVersion, labels: { ...labels, ...changedLabels } },
          data: { release: data },
        },
      },
      signal,
    );
  }

  async #list(labelSelector: string, signal: AbortSignal): Promise<ReleaseRevision[]> {
    const found = await listMetadata(this.#kube, this.#collection, labelSelector, signal);
    return found.map(readRevision).filter((revision) => revision !== undefined);
  }

  async #get(recordName: string, signal: AbortSignal): Promise<Record<string, unknown>> {
    const record = await this.#kube.request({ method: 'GET', path: this.#recordPath(recordName) }, signal);
    return fieldsOf(record);
  }

  #recordPath(recordName: string): string {
    return `${this.#collection}/${encodeURIComponent(recordName)}`;
  }

  /** The base64 text of a record as {@link decodeRelease} takes it; empty when the record holds none. */
  #encoded(record: Readonly<Record<string, unknown>>): string {
    const data = isObject(record['data']) ? record['data']['release'] : undefined;
    if (typeof data !== 'string') return '';
    return this.#isDoubleEncoded ? Buffer.from(data, 'base64').toString('utf8') : data;
  }
}

function recordName(release: string, revision: number): string {
  return `sh.helm.release.v1.${release}.v${revision}`;
}

function storageOf(driver: StorageDriver): (typeof STORAGES)[keyof typeof STORAGES] {
  switch (driver) {
    case 'secret':
    case 'secrets':
      return STORAGES.secret;
    case 'configmap':
    case 'configmaps':
      return STORAGES.configmap;
  }
}

function readRevision(metadata: Readonly<Record<string, unknown>>): ReleaseRevision | undefined {
  const labels = isObject(metadata['labels']) ? stringsOf(metadata['labels']) : {};
  const annotations = fieldsOf(metadata['annotations']);
  const note = annotations[NOTE_ANNOTATION];
  const release = labels['name'];
  const revision = Number(labels['version']);
  if (release === undefined || !Number.isSafeInteger(revision)) return undefined;
  return {
    release,
    revision,
    status: releaseStatus(labels['status']),
    labels,
    objects: parseObjectList(annotations[OBJECTS_ANNOTATION]),
    ...(typeof note === 'string' && { note }),
    recordName: String(metadata['name']),
    uid: String(metadata['uid']),
    resourceVersion: String(metadata['resourceVersion']),
  };
}

function stringsOf(labels: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}

function newer(a: ReleaseRevision | undefined, b: ReleaseRevision): ReleaseRevision {
  return a === undefined || b.revision > a.revision ? b : a;
}
