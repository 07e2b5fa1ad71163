import { OperatorError } from '@addon-operator/base/errors';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import { type ApiResource, apiVersionOf, type KubeObject } from '@addon-operator/kube-client/kube-object';
import { LineStream } from './line-stream.ts';

export const CONFIG_MAPS: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  isNamespaced: true,
  verbs: ['list', 'watch'],
};

/** More than any test sends: whoever does asks in a loop. */
const MAX_REQUESTS = 20_000;

interface Change {
  readonly resourceVersion: number;
  readonly plural: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

interface OpenWatch {
  readonly request: KubeRequest;
  readonly stream: LineStream;
}

/**
 * The lists and watches of an API server, in memory: versions, pages, selectors on labels (`key=value`) and on
 * `metadata.name`, bookmarks, compaction, restored copies, and the ways a connection fails.
 */
export class FakeKubeApi implements KubeClient {
  readonly requests: KubeRequest[] = [];
  readonly #objects = new Map<string, KubeObject>();
  #changes: Change[] = [];
  #version = 100;
  #compactedAt = 0;
  #uids = 0;
  #watches: OpenWatch[] = [];
  #pages = new Map<string, { readonly version: number; readonly items: readonly KubeObject[] }>();
  #troubles: { readonly matches: (request: KubeRequest) => boolean; readonly error: Error }[] = [];
  /** Versions that are served, the preferred one first; `v1` where nothing is said. */
  readonly #served = new Map<string, readonly string[]>();
  /** While true there is no response to anything. */
  isDown = false;
  /** While true, a proxy responds to every list and every new watch with its own page, status 404. */
  isHidden = false;
  /** While true nothing can be discovered. */
  isUndiscoverable = false;
  /** While true the account may neither list nor watch. */
  isForbidden = false;
  /** While true, watches take their place but hear nothing, not even of what is missed meanwhile. */
  isMute = false;

  /** Turns of the event loop that a request takes. */
  latencyTurns = 0;
  /** Most objects on a page, whatever is asked for. */
  maxPageSize = Number.POSITIVE_INFINITY;

  /** Keys of objects that are sent without their names. */
  readonly nameless = new Set<string>();
  /** Keys of objects that are sent without their versions. */
  readonly unversioned = new Set<string>();

  get version(): number {
    return this.#version;
  }

  get openWatches(): number {
    return this.#watches.length;
  }

  /** How many requests there were; `version` are those that read one object for the version of the list. */
  count(verb: 'list' | 'version' | 'watch'): number {
    const verbOf = ({ query }: KubeRequest): string => {
      if (query?.['watch'] === 'true') return 'watch';
      return query?.['limit'] === '1' ? 'version' : 'list';
    };
    return this.requests.filter((request) => verbOf(request) === verb).length;
  }

  /** Objects of a collection as the server has them, by `namespace/name`. */
  truth(plural = 'configmaps'): Map<string, KubeObject> {
    const found = [...this.#objects].filter(([path]) => path.startsWith(`${plural}:`));
    return new Map(found.map(([path, object]) => [path.slice(plural.length + 1), object]));
  }

  /** Creates or changes an object; `fields` replace those it has. */
  put(key: string, fields: Readonly<Record<string, unknown>> = {}, plural = 'configmaps'): KubeObject {
    const [namespace = '', name = ''] = key.split('/');
    const before = this.#objects.get(`${plural}:${key}`);
    this.#version += 1;
    const { labels, ...rest } = fields;
    const kept = labels ?? before?.metadata.labels;
    const after: KubeObject = {
      apiVersion: 'v1',
      kind: plural === 'configmaps' ? 'ConfigMap' : 'Namespace',
      ...before,
      ...rest,
      metadata: {
        name,
        ...(namespace !== '' && { namespace }),
        uid: before?.metadata.uid ?? `uid-${(this.#uids += 1)}`,
        resourceVersion: String(this.#version),
        ...(kept !== undefined && { labels: kept as Record<string, string> }),
      },
    };
    this.#objects.set(`${plural}:${key}`, after);
    this.#record({ resourceVersion: this.#version, plural, before, after });
    return after;
  }

  delete(key: string, plural = 'configmaps'): void {
    const before = this.#objects.get(`${plural}:${key}`);
    if (before === undefined) return;
    this.#version += 1;
    this.#objects.delete(`${plural}:${key}`);
    const metadata = { ...before.metadata, resourceVersion: String(this.#version) };
    this.#record({
      resourceVersion: this.#version,
      plural,
      before: { ...before, metadata },
      after: undefined,
    });
  }

  /** The kind is not served any more; its objects are gone with it. */
  removeKind(plural: string): void {
    for (const key of this.truth(plural).keys()) this.delete(key, plural);
    this.serve(plural, []);
  }

  restoreKind(plural: string): void {
    this.serve(plural, ['v1']);
  }

  /** Changes the served versions of a kind, which ends its watches; its objects stay. */
  serve(plural: string, versions: readonly string[]): void {
    this.#served.set(plural, versions);
    const isOfKind = ({ request }: OpenWatch): boolean => pluralOf(request) === plural;
    const ended = this.#watches.filter(isOfKind);
    this.#watches = this.#watches.filter((watch) => !isOfKind(watch));
    for (const { stream } of ended) stream.end();
  }

  isServed(plural: string): boolean {
    return this.#versionsOf(plural).length > 0;
  }

  /** What discovery finds out; `Discovery.rediscover` on this server. */
  readonly rediscover = async (known: ApiResource): Promise<ApiResource | undefined> => {
    if (this.isDown || this.isUndiscoverable) throw unreachable();
    const versions = this.#versionsOf(known.plural);
    const version = versions.find((served) => served === known.version) ?? versions[0];
    return version === undefined ? undefined : { ...known, version };
  };

  #versionsOf(plural: string): readonly string[] {
    return this.#served.get(plural) ?? ['v1'];
  }

  /** Forgets all history: older watches and pages expire. */
  compact(): void {
    this.#compactedAt = this.#version;
    this.#changes = [];
    this.#pages.clear();
  }

  /** The store is replaced by a copy that was taken `versions` ago, without the objects named. */
  restoreOlderCopy(versions: number, without: readonly string[]): void {
    for (const key of without) this.#objects.delete(`configmaps:${key}`);
    this.#version -= versions;
    this.#changes = [];
    this.#pages.clear();
  }

  bookmark(): void {
    if (this.isMute) return;
    for (const { stream } of this.#watches) {
      const metadata = { resourceVersion: String(this.#version) };
      stream.push(JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', metadata } }));
    }
  }

  /** Puts a line into every open watch. */
  sendLine(line: string): void {
    for (const { stream } of this.#watches) stream.push(line);
  }

  /** Makes all open watches lag behind, until they are no longer held. */
  holdWatches(isHeld: boolean): void {
    for (const { stream } of this.#watches) stream.hold(isHeld);
  }

  /** Ends all watches in good order. */
  closeWatches(): void {
    for (const { stream } of this.#watches.splice(0)) stream.end();
  }

  /** Breaks all watches. */
  breakWatches(matches: (request: KubeRequest) => boolean = () => true): void {
    const broken = this.#watches.filter(({ request }) => matches(request));
    this.#watches = this.#watches.filter(({ request }) => !matches(request));
    for (const { stream } of broken) stream.fail(unreachable());
  }

  /** The next request that matches is refused. */
  refuseNext(
    verb: 'list' | 'watch',
    error: Error,
    matches: (request: KubeRequest) => boolean = () => true,
  ): void {
    this.#troubles.push({
      matches: (request) => (request.query?.['watch'] === 'true') === (verb === 'watch') && matches(request),
      error,
    });
  }

  async request(request: KubeRequest, signal: AbortSignal): Promise<unknown> {
    await this.#receive(request, signal);
    const { continue: token } = request.query ?? {};
    return this.#page(request, token);
  }

  async stream(request: KubeRequest, signal: AbortSignal): Promise<AsyncIterable<string>> {
    await this.#receive(request, signal);
    signal.throwIfAborted();
    const from = Number(request.query?.['resourceVersion']);
    const stream = new LineStream(signal);
    if (from < this.#compactedAt) {
      stream.push(
        JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }),
      );
      stream.end();
      return stream;
    }
    const watch = { request, stream };
    for (const change of this.#changes) {
      if (change.resourceVersion > from && !this.isMute) this.#send(watch, change);
    }
    this.#watches.push(watch);
    signal.addEventListener('abort', () => {
      this.#watches = this.#watches.filter((other) => other !== watch);
    });
    return stream;
  }

  async #receive(request: KubeRequest, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.requests.length === MAX_REQUESTS) throw new Error(`more than ${MAX_REQUESTS} requests`);
    this.requests.push(request);
    for (let turn = 0; turn < this.latencyTurns; turn += 1) {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      signal.throwIfAborted();
    }
    if (this.isDown) throw unreachable();
    const index = this.#troubles.findIndex(({ matches }) => matches(request));
    if (index !== -1) throw this.#troubles.splice(index, 1)[0]?.error;
    if (this.isHidden) throw refusal(404, '');
    // An API server sends no Status object for a path that it does not know.
    if (!this.#versionsOf(pluralOf(request)).includes(versionOf(request))) throw refusal(404, '');
    if (this.isForbidden) throw refusal(403, 'Forbidden');
  }

  #page(request: KubeRequest, token: string | undefined): unknown {
    const limit = Math.min(this.maxPageSize, Number(request.query?.['limit'] ?? Number.POSITIVE_INFINITY));
    const notOlderThan = Number(request.query?.['resourceVersion'] ?? 0);
    if (notOlderThan > this.#version) throw refusal(504, 'Timeout');
    const rest = token === undefined ? this.#snapshot(request) : this.#pages.get(token);
    if (rest === undefined) throw refusal(410, 'Expired');
    const next = `${rest.version}/${rest.items.length}/${this.requests.length}`;
    const left = rest.items.slice(limit);
    if (left.length > 0) this.#pages.set(next, { version: rest.version, items: left });
    return {
      kind: 'List',
      metadata: { resourceVersion: String(rest.version), ...(left.length > 0 && { continue: next }) },
      items: rest.items
        .slice(0, limit)
        .map(({ apiVersion: _apiVersion, kind: _kind, ...item }) => this.#sent(item)),
    };
  }

  #sent(object: Pick<KubeObject, 'metadata'>): object {
    const { name, namespace = '', ...metadata } = object.metadata;
    const key = `${namespace}/${name}`;
    if (this.nameless.has(key)) return { ...object, metadata: { ...metadata, namespace } };
    if (!this.unversioned.has(key)) return object;
    const { resourceVersion: _, ...rest } = object.metadata;
    return { ...object, metadata: rest };
  }

  #snapshot(request: KubeRequest): { readonly version: number; readonly items: readonly KubeObject[] } {
    const items = [...this.truth(pluralOf(request)).values()].filter((object) => isSelected(request, object));
    return { version: this.#version, items };
  }

  #record(change: Change): void {
    this.#changes.push(change);
    if (this.isMute) return;
    for (const watch of this.#watches) this.#send(watch, change);
  }

  #send({ request, stream }: OpenWatch, change: Change): void {
    if (change.plural !== pluralOf(request)) return;
    const before = change.before !== undefined && isSelected(request, change.before);
    const after = change.after !== undefined && isSelected(request, change.after);
    const apiVersion = apiVersionOf({ group: '', version: versionOf(request) });
    if (after) {
      const object = { ...change.after, apiVersion };
      stream.push(JSON.stringify({ type: before ? 'MODIFIED' : 'ADDED', object: this.#sent(object) }));
    } else if (before) {
      const metadata = { ...change.before?.metadata, resourceVersion: String(change.resourceVersion) };
      stream.push(JSON.stringify({ type: 'DELETED', object: { ...change.before, apiVersion, metadata } }));
    }
  }
}

/** What an API server answers when it says no. */
export function refusal(status: number, reason: string, retryAfterSeconds?: number): KubeApiError {
  const response = { status, reason, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return new KubeApiError(`refused: ${reason}`, response);
}

export function unreachable(): OperatorError {
  return new OperatorError('KUBE_UNREACHABLE', 'connection reset');
}

/** `v1` of `/api/v1/…` and of `/apis/GROUP/v1/…`. */
function versionOf({ path }: KubeRequest): string {
  return path.split('/')[path.startsWith('/apis/') ? 3 : 2] ?? '';
}

function pluralOf({ path }: KubeRequest): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isSelected({ path, query = {} }: KubeRequest, { metadata }: KubeObject): boolean {
  const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1];
  if (namespace !== undefined && namespace !== metadata.namespace) return false;
  const [, name] = query['fieldSelector']?.split('metadata.name=') ?? [];
  if (name !== undefined && name !== metadata.name) return false;
  const labels = (query['labelSelector'] ?? '').split(',').filter((part) => part !== '');
  return labels.every((part) => metadata.labels?.[part.split('=')[0] ?? ''] === part.split('=')[1]);
}
