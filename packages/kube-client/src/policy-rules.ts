/** A permission that an account needs. */
export type Access = ResourceAccess | UrlAccess;

/** Verbs on paths that are no resources, such as `/metrics`. */
interface UrlAccess {
  readonly urls: readonly string[];
  readonly verbs: readonly string[];
}

/** Verbs on a resource, `deployments` or `deployments/status`. */
export interface ResourceAccess {
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** The namespace in which they must be allowed; absent for all namespaces, and for cluster-scoped resources. */
  readonly namespace?: string;
  /** Only these objects; absent for all. */
  readonly names?: readonly string[];
}

/** A rule of a Role or ClusterRole, as the API has it. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The order in which people write verbs; others follow by name. */
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/**
 * The fewest rules that give exactly this access: everything about one resource in one rule, resources of a group with
 * equal verbs in the same rule. Sorted, so that equal needs print equally.
 */
export function policyRules(needed: readonly Access[]): PolicyRule[] {
  const resources = needed.filter((access) => 'resource' in access);
  const urls = needed.filter((access) => 'urls' in access);
  const rules = [...resourceRules(resources), ...urlRules(urls)];
  return rules.toSorted((a, b) => compareStrings(JSON.stringify(a), JSON.stringify(b)));
}

/** One rule for all paths with the same verbs. */
function urlRules(needed: readonly UrlAccess[]): PolicyRule[] {
  const byVerbs = Map.groupBy(needed, ({ verbs }) => JSON.stringify(verbs.toSorted(compareVerbs)));
  return [...byVerbs.values()].map((group) => ({
    nonResourceURLs: sorted([...new Set(group.flatMap(({ urls }) => urls))]),
    verbs: group[0]?.verbs.toSorted(compareVerbs) ?? [],
  }));
}

/** Merges in two steps: verbs of the same resource, then resources with the same verbs. */
function resourceRules(needed: readonly ResourceAccess[]): PolicyRule[] {
  const byResource = new Map<string, { readonly access: ResourceAccess; readonly verbs: Set<string> }>();
  for (const access of needed) {
    const key = JSON.stringify([access.group, access.resource, sorted(access.names ?? [])]);
    const known = byResource.get(key) ?? { access, verbs: new Set<string>() };
    for (const verb of access.verbs) known.verbs.add(verb);
    byResource.set(key, known);
  }
  const rules = new Map<
    string,
    {
      readonly rule: { readonly apiGroups: readonly string[]; readonly verbs: readonly string[] };
      readonly resources: Set<string>;
    }
  >();
  for (const { access, verbs } of byResource.values()) {
    const names = sorted(access.names ?? []);
    const rule = {
      apiGroups: [access.group],
      verbs: [...verbs].toSorted(compareVerbs),
      ...(names.length === 0 ? {} : { resourceNames: names }),
    };
    const key = JSON.stringify(rule);
    const known = rules.get(key) ?? { rule, resources: new Set<string>() };
    known.resources.add(access.resource);
    rules.set(key, known);
  }
  return [...rules.values()].map(({ rule: { apiGroups, ...rest }, resources }) => ({
    apiGroups,
    resources: sorted([...resources]),
    ...rest,
  }));
}

/** The access that rules of a ClusterRole give. */
export function accessOfRules(rules: readonly PolicyRule[]): Access[] {
  return rules.flatMap((rule): Access[] => {
    const { nonResourceURLs: urls = [], verbs } = rule;
    return urls.length === 0 ? accessOfRule(rule) : [{ urls, verbs }];
  });
}

/** Every combination of group and resource in a rule. */
function accessOfRule({ apiGroups = [], resources = [], verbs, resourceNames }: PolicyRule): Access[] {
  return apiGroups.flatMap((group) =>
    resources.map((resource) => ({
      group,
      resource,
      verbs,
      ...(resourceNames === undefined || resourceNames.length === 0 ? {} : { names: resourceNames }),
    })),
  );
}

function sorted(names: readonly string[]): readonly string[] {
  return names.toSorted(compareStrings);
}

/** In the usual order; unknown verbs follow by name. */
function compareVerbs(a: string, b: string): number {
  const [left, right] = [VERBS.indexOf(a), VERBS.indexOf(b)];
  if (left === -1 && right === -1) return compareStrings(a, b);
  if (left === -1) return 1;
  return right === -1 ? -1 : left - right;
}

function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Collects the access that was used, in a form fit to be granted: a resource that was used in one namespace only is
 * granted there, one that was used in several is granted in all.
 */
export class SeenAccess {
  readonly #seen = new Map<string, { access: ResourceAccess; readonly verbs: Set<string> }>();

  /** Takes one access; access in a second namespace widens the entry to all namespaces. */
  note(access: ResourceAccess): void {
    const key = `${access.group}/${access.resource}`;
    const known = this.#seen.get(key);
    if (known === undefined) {
      this.#seen.set(key, { access, verbs: new Set(access.verbs) });
      return;
    }
    for (const verb of access.verbs) known.verbs.add(verb);
    if (known.access.namespace === access.namespace) return;
    const { namespace: _, ...everywhere } = known.access;
    known.access = everywhere;
  }

  /** One entry for each resource. */
  get all(): readonly ResourceAccess[] {
    return [...this.#seen.values()].map(({ access, verbs }) => ({ ...access, verbs: [...verbs] }));
  }
}
