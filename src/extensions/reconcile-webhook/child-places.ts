import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { identityOf, type ManifestObject } from '@addon-operator/helm/manifest-object';
import { isObject } from '@addon-operator/json';
import type { ApiResource, KubeObject } from '@addon-operator/kube-client/kube-object';
import { childKey } from './request-body.ts';

/** In the list of allowed namespaces: objects of kinds that have no namespace. No namespace can have this name. */
const CLUSTER = 'Cluster';
const ANY_NAMESPACE = '*';
const MAX_SHOWN = 5;

export interface ChildPlacesOptions {
  /** That of the releases. */
  readonly namespace: string;
  /** What the setting allows besides: namespaces, `*` for all of them, `Cluster` for objects without a namespace. */
  readonly allowed: readonly string[];
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** What the release of a module consists of now; nothing without one. */
  readonly deployed: (release: string, signal: AbortSignal) => Promise<readonly KubeObject[]>;
}

interface Place {
  readonly object: ManifestObject;
  /** Empty for objects of the cluster. */
  readonly namespace: string;
  readonly isInCluster: boolean;
}

/**
 * Decides which objects the reconcile webhook of a module may add to the release. The chart decides about its own
 * objects and the release keeps what it owns; everything else has to be in a namespace of the module. Without this
 * rule a webhook could adopt any object of the cluster, and its removal would delete that object.
 */
export class ChildPlaces {
  readonly #options: ChildPlacesOptions;

  constructor(options: ChildPlacesOptions) {
    this.#options = options;
  }

  /** @throws OperatorError HOOK_OUTPUT_INVALID naming the objects and the setting; what discovery and helm throw */
  async check(
    module: string,
    rendered: readonly KubeObject[],
    children: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<void> {
    const allRendered = rendered.flatMap(members).map(identityOf);
    const outside: Place[] = [];
    const own = this.#namespacesOf(allRendered);
    for (const object of children.flatMap(members).map(identityOf)) {
      if (allRendered.some((other) => keyOf(other) === keyOf(object))) continue;
      const place = await this.#placeOf(object, signal);
      if (place === undefined) continue;
      if (!this.#isAllowed(place, own) && !this.#isAmong(place, allRendered)) outside.push(place);
    }
    if (outside.length === 0) return;
    const owned = (await this.#options.deployed(module, signal)).flatMap(members).map(identityOf);
    const refused = outside.filter((place) => !this.#isAmong(place, owned));
    if (refused.length > 0) throw refusal(refused);
  }

  /** The namespace of the release, and those that the chart itself creates. */
  #namespacesOf(rendered: readonly ManifestObject[]): ReadonlySet<string> {
    const created = rendered.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
    return new Set([this.#options.namespace, ...created.map(({ name }) => name)]);
  }

  /** Undefined for a kind that the cluster does not serve: it has no objects to adopt, and helm refuses it by name. */
  async #placeOf(object: ManifestObject, signal: AbortSignal): Promise<Place | undefined> {
    try {
      // The server ignores a namespace in objects of the cluster, so only the scope of the kind counts.
      const { isNamespaced } = await this.#options.find(object.apiVersion, object.kind, signal);
      return { object, isInCluster: !isNamespaced, namespace: isNamespaced ? this.#namespaceOf(object) : '' };
    } catch (error) {
      if (hasCode(error, 'KUBE_KIND_UNKNOWN')) return undefined;
      throw error;
    }
  }

  #isAllowed({ isInCluster, namespace }: Place, own: ReadonlySet<string>): boolean {
    const { allowed } = this.#options;
    if (isInCluster) return allowed.includes(CLUSTER);
    return own.has(namespace) || allowed.includes(namespace) || allowed.includes(ANY_NAMESPACE);
  }

  #isAmong({ object, isInCluster, namespace }: Place, others: readonly ManifestObject[]): boolean {
    return others.some(
      (other) =>
        keyOf({ ...other, namespace: '' }) === keyOf({ ...object, namespace: '' }) &&
        (isInCluster || this.#namespaceOf(other) === namespace),
    );
  }

  #namespaceOf({ namespace }: ManifestObject): string {
    return namespace === '' ? this.#options.namespace : namespace;
  }
}

/** helm treats every object with `items` of any kind as a list, and applies the items one by one. */
function members(object: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  const { items } = object;
  return Array.isArray(items) ? items.filter(isObject).flatMap(members) : [object];
}

function keyOf({ apiVersion, kind, name, namespace }: ManifestObject): string {
  return childKey({ apiVersion, kind, metadata: { name, namespace } });
}

function refusal(places: readonly Place[]): OperatorError {
  const titles = places.slice(0, MAX_SHOWN).map(({ object, isInCluster, namespace }) => {
    const key = keyOf({ ...object, namespace });
    return isInCluster ? `${key} (cluster-scoped)` : key;
  });
  const more = places.length > MAX_SHOWN ? `, and ${places.length - MAX_SHOWN} more` : '';
  const words = [...new Set(places.map(({ isInCluster, namespace }) => (isInCluster ? CLUSTER : namespace)))];
  return new OperatorError(
    'HOOK_OUTPUT_INVALID',
    `children in its response are outside of the namespaces of the module and are neither in the chart nor in the release: ${titles.join(', ')}${more}. If the webhook is trusted with them, add ${words.slice(0, MAX_SHOWN).join(',')} to --http-hook-child-namespaces`,
  );
}
