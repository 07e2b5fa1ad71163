// Discovery: maps what users write (`kind: cm`) to a resource with its URL path, and lists API versions for
// charts. Callers are the bindings, object patches and the helm renderer. The catalog is read on first use,
// by aggregated discovery in two requests or, from older servers, one request per group and version, and read
// again when a kind is missing in it. The server of an aggregated API may be down: then its groups are stale,
// and a missing kind is "unknown", never "gone".

import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf, stringOf } from '@addon-operator/json';
import {
  findResource,
  type GroupVersion,
  readAggregated,
  readGroups,
  readResourceList,
  resourcesWithoutKind,
  servedResource,
} from './discovery-documents.ts';
import { KubeApiError, type KubeClient } from './kube-client.ts';
import { type ApiResource, apiVersionOf, groupVersionPath } from './kube-object.ts';

interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  /** For instance `v1.34.2`. */
  readonly gitVersion: string;
}

interface DiscoveryDeps {
  readonly kube: KubeClient;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

/** The served resources, as of the last request. */
interface Catalog {
  readonly groupVersions: readonly GroupVersion[];
  readonly readAtMs: number;
}

/**
 * Aggregated discovery (v2 since Kubernetes 1.30, v2beta1 since 1.26), plain documents from older servers.
 */
const ACCEPT_AGGREGATED = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** Minimum time between requests that an unknown kind causes. */
const MIN_REFRESH_INTERVAL_MS = 5_000;
/** Maximum age of the list of API versions that charts see. */
const MAX_LIST_AGE_MS = 60_000;

/** Which kinds the API server serves, read on first use and kept until something is missing in it. */
export class Discovery {
  readonly #deps: DiscoveryDeps;
  #catalog: Catalog | undefined;
  #reading: { readonly catalog: Promise<Catalog>; readonly signal: AbortSignal } | undefined;

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps;
  }

  /**
   * The resource of a kind given by Kind, plural, singular or short name in any case; without `apiVersion` in the
   * preferred version. A kind that is not known yet is looked up on the server again, at most every 5 s.
   *
   * @throws OperatorError KUBE_KIND_UNKNOWN; whatever the client throws
   */
  async find(apiVersion: string | undefined, kind: string, signal: AbortSignal): Promise<ApiResource> {
    const known = await this.#catalogOf(Number.POSITIVE_INFINITY, signal);
    const resource =
      findResource(known.groupVersions, apiVersion, kind) ??
      findResource((await this.#catalogOf(MIN_REFRESH_INTERVAL_MS, signal)).groupVersions, apiVersion, kind);
    if (resource !== undefined) return resource;
    throw new OperatorError(
      'KUBE_KIND_UNKNOWN',
      `apiVersion '${apiVersion ?? ''}', kind '${kind}' is not supported by cluster: check the spelling, or install its CustomResourceDefinition`,
    );
  }

  /**
   * Reads anew under which version the server has a kind: the known version if it is still served, else another one of
   * its group. Undefined when the server says that the group has no such kind.
   *
   * @throws OperatorError KUBE_API when the server does not know at the moment; whatever the client throws
   */
  async rediscover(
    known: Pick<ApiResource, 'group' | 'version' | 'kind'>,
    signal: AbortSignal,
  ): Promise<ApiResource | undefined> {
    const { groupVersions } = await this.#catalogOf(0, signal);
    const found = servedResource(groupVersions, known);
    const isUncertain = groupVersions.some(({ group, isStale }) => group === known.group && isStale === true);
    if (found !== undefined || !isUncertain) return found;
    throw new OperatorError(
      'KUBE_API',
      `Cannot find out whether the API server still serves ${known.kind} of ${known.group}: the API behind this group is not available; see its APIService`,
    );
  }

  /**
   * All served resources, when a kind (in any case) is not among those of its group; a missing kind is looked up on the
   * server again, at most every 5 s. Undefined when it is served, or when that is uncertain because the server of its
   * group is not available.
   *
   * @throws whatever the client throws
   */
  async resourcesWithoutKind(
    wanted: Pick<ApiResource, 'group' | 'kind'>,
    signal: AbortSignal,
  ): Promise<readonly ApiResource[] | undefined> {
    const known = await this.#catalogOf(Number.POSITIVE_INFINITY, signal);
    if (resourcesWithoutKind(known.groupVersions, wanted) === undefined) return undefined;
    return resourcesWithoutKind(
      (await this.#catalogOf(MIN_REFRESH_INTERVAL_MS, signal)).groupVersions,
      wanted,
    );
  }

  /** A discovery for another client. It starts with this catalog, and requests missing kinds through `kube`. */
  sharedWith(kube: KubeClient): Discovery {
    const other = new Discovery({ ...this.#deps, kube });
    // Of any age: a kind that is missing is looked up at once.
    if (this.#catalog !== undefined) other.#catalog = { ...this.#catalog, readAtMs: Number.MIN_SAFE_INTEGER };
    return other;
  }

  /** Forgets everything; the next call requests it again. */
  invalidate(): void {
    this.#catalog = undefined;
    this.#reading = undefined;
  }

  /**
   * The API versions that helm shows to charts as `.Capabilities.APIVersions`: each `group/version` (`v1` for the core
   * group) and each `group/version/Kind`, sorted, at most a minute old.
   */
  async apiVersions(signal: AbortSignal): Promise<readonly string[]> {
    const { groupVersions } = await this.#catalogOf(MAX_LIST_AGE_MS, signal);
    const names = new Set<string>();
    for (const entry of groupVersions) {
      if (entry.isStale === true && entry.resources.length === 0) continue;
      names.add(apiVersionOf(entry));
      for (const resource of entry.resources) names.add(`${apiVersionOf(entry)}/${resource.kind}`);
    }
    return [...names].toSorted();
  }

  /** Sends a request each time. */
  async serverVersion(signal: AbortSignal): Promise<ServerVersion> {
    const response = await this.#deps.kube.request({ method: 'GET', path: '/version' }, signal);
    const { major, minor, gitVersion } = fieldsOf(response);
    return { major: stringOf(major), minor: stringOf(minor), gitVersion: stringOf(gitVersion) };
  }

  /** The catalog, read anew when it is `maxAgeMs` old or older. Readers at the same time share one reading. */
  async #catalogOf(maxAgeMs: number, signal: AbortSignal): Promise<Catalog> {
    for (;;) {
      signal.throwIfAborted();
      const held = this.#catalog;
      const ageMs = held === undefined ? 0 : this.#deps.clock.steadyMs() - held.readAtMs;
      if (held !== undefined && ageMs < maxAgeMs) return held;
      const reading = (this.#reading ??= { catalog: this.#read(signal), signal });
      try {
        const catalog = await reading.catalog;
        // A response that was under way while `invalidate` was called is not kept.
        if (this.#reading === reading) this.#catalog = catalog;
        return catalog;
      } catch (error) {
        // The reader whose signal aborted takes only itself down.
        if (!reading.signal.aborted || signal.aborted) throw error;
      } finally {
        if (this.#reading === reading) this.#reading = undefined;
      }
    }
  }

  /** Reads the core group and all others. */
  async #read(signal: AbortSignal): Promise<Catalog> {
    const core = await this.#readRoot('/api', signal);
    const groups = await this.#readRoot('/apis', signal);
    return { groupVersions: [...core, ...groups], readAtMs: this.#deps.clock.steadyMs() };
  }

  /** The groups below one root, with their resources. */
  async #readRoot(path: '/api' | '/apis', signal: AbortSignal): Promise<readonly GroupVersion[]> {
    const { kube } = this.#deps;
    const document = await kube.request({ method: 'GET', path, accept: ACCEPT_AGGREGATED }, signal);
    const aggregated = readAggregated(document);
    if (aggregated !== undefined) return aggregated;
    const groups = readGroups(document);
    if (groups === undefined)
      throw new OperatorError(
        'KUBE_API',
        `Cannot discover what the API server serves: its response to GET ${path} is not a discovery document; check for a proxy in front of it`,
      );
    const groupVersions: GroupVersion[] = [];
    for (const { group, versions } of groups) {
      for (const version of versions) {
        const resources = await this.#readResources(group, version, signal);
        groupVersions.push({
          group,
          version,
          resources: resources ?? [],
          ...(resources === undefined && { isStale: true }),
        });
      }
    }
    return groupVersions;
  }

  /** Undefined where the server of an aggregated API is down: the other groups are of use without it. */
  async #readResources(
    group: string,
    version: string,
    signal: AbortSignal,
  ): Promise<readonly ApiResource[] | undefined> {
    const path = groupVersionPath({ group, version });
    try {
      return readResourceList(group, version, await this.#deps.kube.request({ method: 'GET', path }, signal));
    } catch (error) {
      const isGroupDown = error instanceof KubeApiError && (error.status === 404 || error.status >= 500);
      if (!isGroupDown || group === '') throw error;
      this.#deps.log.warn({ group, version, ...errorFields(error) }, 'API group is not available');
      return undefined;
    }
  }
}
