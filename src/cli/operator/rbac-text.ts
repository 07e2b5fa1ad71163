import type { PolicyRule } from '@addon-operator/kube-client/policy-rules';
import { dump } from 'js-yaml';
import type { Grants } from '../../modules/access/grants.ts';
import type { OutputFormat } from '../output/output-format.ts';
import { type Table, tableText } from '../output/tables.ts';

/** `values` are those of the chart in deploy/. */
export type RbacFormat = OutputFormat | 'values';

/** Name of all roles that are printed. */
export const ROLE_NAME = 'addon-operator-modules';
const API_VERSION = 'rbac.authorization.k8s.io/v1';

/**
 * A ClusterRole and the Roles that go with it as YAML documents, as a List in JSON, as a table with a row for each rule or by
 * name, or values for the chart in deploy/.
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
  const roles: readonly Role[] = [
    { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: { name: ROLE_NAME }, rules: everywhere },
    ...[...namespaces].map(([namespace, rules]) => ({
      apiVersion: API_VERSION,
      kind: 'Role',
      metadata: { name: ROLE_NAME, namespace },
      rules,
    })),
  ];
  if (format === 'yaml') return roles.map(yamlOf).join('---\n');
  if (format === 'json')
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: roles }, null, 2)}\n`;
  return tableText(rulesTable(roles), format === 'text' ? 'table' : format);
}

interface Role {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly PolicyRule[];
}

function rulesTable(roles: readonly Role[]): Table {
  return {
    columns: ['KIND', 'NAMESPACE', 'RESOURCES', 'VERBS', 'API GROUPS', 'NAMES'],
    narrow: 4,
    rows: roles.flatMap(({ kind, metadata: { namespace = '' }, rules }) =>
      rules.map((rule) => [
        kind,
        namespace,
        (rule.resources ?? rule.nonResourceURLs ?? []).join(','),
        rule.verbs.join(','),
        (rule.apiGroups ?? []).map((group) => group || 'core').join(','),
        (rule.resourceNames ?? []).join(','),
      ]),
    ),
    names: roles.map(({ kind, metadata: { name } }) => `${kind.toLowerCase()}/${name}`),
  };
}

function yamlOf(value: object): string {
  return dump(value, { noRefs: true });
}
