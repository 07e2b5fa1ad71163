import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { identityOf, type ManifestObject } from '@addon-operator/helm/manifest-object';
import { isObject } from '@addon-operator/json';
import type { ApiResource, KubeObject } from '@addon-operator/kube-client/kube-object';
import { childKey } from './request-body.ts';

/** The entry of the allow-list for cluster-scoped objects. No namespace can have this name. */
const CLUSTER = 'Cluster';
const ANY_NAMESPACE = '*';
const MAX_SHOWN = 5;

export interface ChildPlacesOptions {
  /** The namespace of the releases. */
  readonly namespace: string;
  /** Additional places: namespaces, `*` for all of them, `Cluster` for cluster-scoped objects. */
  readonly allowed: readonly string[];
  readonly find: (apiVersion: string, kind: string, signal: AbortSignal) => Promise<ApiResource>;
  /** The objects of a module's release; empty without one. */
  readonly deployed: (release: string, signal: AbortSignal) => Promise<readonly KubeObject[]>;
}

interface Place {
  readonly object: ManifestObject;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly isInCluster: boolean;
}

/**
 * Checks which objects a reconcile webhook may add to the release of its module. Objects of the
 * chart and of the current release are allowed; all others have to be in a namespace of the module.
 * Without this rule a webhook could adopt any object of the cluster, and its removal would delete
 * that object.
 */
export class ChildPlaces {
  readonly #options: ChildPlacesOptions;

  constructor(options: ChildPlacesOptions) {
    this.#options = options;
  }

  /**
   * @throws OperatorError HOOK_OUTPUT_INVALID with the objects and the setting; errors of discovery
   * and helm
   */
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
    // The release is read only if something is outside: that takes a request.
    if (outside.length === 0) return;
    const owned = (await this.#options.deployed(module, signal)).flatMap(members).map(identityOf);
    const refused = outside.filter((place) => !this.#isAmong(place, owned));
    if (refused.length > 0) throw refusal(refused);
  }

  /** The namespace of the release, and namespaces that the chart creates. */
  #namespacesOf(rendered: readonly ManifestObject[]): ReadonlySet<string> {
    const created = rendered.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
    return new Set([this.#options.namespace, ...created.map(({ name }) => name)]);
  }

  /**
   * Undefined for a kind that the cluster does not serve: there is nothing to adopt, and helm
   * reports the kind.
   */
  async #placeOf(object: ManifestObject, signal: AbortSignal): Promise<Place | undefined> {
    try {
      // The API server ignores the namespace of cluster-scoped objects: only the scope of the kind
      // counts.
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

/**
 * The objects of a list. helm treats every object with `items` as a list, and applies the items one
 * by one.
 */
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
