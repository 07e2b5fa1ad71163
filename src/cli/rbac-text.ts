import { dump } from 'js-yaml';
import type { Grants } from '../modules/access/grants.ts';

export type RbacFormat = 'yaml' | 'json' | 'values';

/** Name of all roles that are printed. */
export const ROLE_NAME = 'addon-operator-modules';
const API_VERSION = 'rbac.authorization.k8s.io/v1';

/**
 * A ClusterRole and the Roles that go with it as YAML documents or as a List in JSON, or values for the chart in deploy/.
 *
 * @param ownNamespace of the operator, where the chart has a Role of its own
 */
export function rbacText(
  { everywhere, namespaces }: Grants,
  format: RbacFormat,
  ownNamespace: string,
): string {
  if (format === 'values') {
    const others = [...namespaces].filter(([namespace]) => namespace !== ownNamespace);
    const rbac = {
      rules: everywhere,
      namespaceRules: namespaces.get(ownNamespace) ?? [],
      rulesByNamespace: Object.fromEntries(others),
    };
    return yamlOf({ rbac });
  }
  const roles = [
    { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: { name: ROLE_NAME }, rules: everywhere },
    ...[...namespaces].map(([namespace, rules]) => ({
      apiVersion: API_VERSION,
      kind: 'Role',
      metadata: { name: ROLE_NAME, namespace },
      rules,
    })),
  ];
  if (format === 'yaml') return roles.map(yamlOf).join('---\n');
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: roles }, null, 2)}\n`;
}

function yamlOf(value: object): string {
  return dump(value, { noRefs: true });
}
