import {
  type Access,
  type PolicyRule,
  policyRules,
  type ResourceAccess,
} from '@addon-operator/kube-client/policy-rules';

/** Rules by scope. */
export interface Grants {
  /** For a ClusterRole. */
  readonly everywhere: readonly PolicyRule[];
  /** For a Role in each of these namespaces, sorted by name. */
  readonly namespaces: ReadonlyMap<string, readonly PolicyRule[]>;
}

/**
 * The minimal rules that grant this access. Rules of the ClusterRole are not repeated for a
 * namespace.
 *
 * @param unborn namespaces that the module itself creates: no Role can exist there before, so their
 *   access is granted everywhere
 */
export function grantsFor(needed: readonly Access[], unborn: ReadonlySet<string> = new Set()): Grants {
  const everywhere: Access[] = [];
  const local = new Map<string, ResourceAccess[]>();
  for (const access of needed) {
    const namespace = 'resource' in access ? access.namespace : undefined;
    if (!('resource' in access) || namespace === undefined || unborn.has(namespace)) {
      everywhere.push(access);
      continue;
    }
    const known = local.get(namespace) ?? [];
    known.push(access);
    local.set(namespace, known);
  }
  const given = verbsByResource(everywhere);
  const namespaces = [...local].flatMap(([namespace, accesses]): [string, readonly PolicyRule[]][] => {
    const missing = accesses.flatMap((access) => lacking(access, given));
    return missing.length === 0 ? [] : [[namespace, policyRules(missing)]];
  });
  return {
    everywhere: policyRules(everywhere),
    namespaces: new Map(namespaces.toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function keyOf({ group, resource }: ResourceAccess): string {
  return `${group}/${resource}`;
}

/** The verbs granted for all objects of a resource. */
function verbsByResource(given: readonly Access[]): ReadonlyMap<string, ReadonlySet<string>> {
  const verbs = new Map<string, Set<string>>();
  for (const access of given) {
    if (!('resource' in access) || (access.names ?? []).length > 0) continue;
    const known = verbs.get(keyOf(access)) ?? new Set();
    for (const verb of access.verbs) known.add(verb);
    verbs.set(keyOf(access), known);
  }
  return verbs;
}

/** The part of an access that is not granted yet: nothing, or fewer verbs. */
function lacking(
  access: ResourceAccess,
  given: ReadonlyMap<string, ReadonlySet<string>>,
): readonly ResourceAccess[] {
  const known = given.get(keyOf(access));
  const verbs = access.verbs.filter((verb) => known?.has(verb) !== true);
  return verbs.length === 0 ? [] : [{ ...access, verbs }];
}
