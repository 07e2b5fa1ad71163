import type { Field } from './field.ts';
import { dnsSubdomain, pathSegment } from './name-rules.ts';
import { validateSelector } from './validate-meta.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Checks the rules of a Role or ClusterRole. */
export function validateRole(role: Field): void {
  const isNamespaced = role.at('kind').string === 'Role';
  for (const rule of role.at('rules').items) validateRule(rule, isNamespaced);
  if (!role.at('aggregationRule').isSet) return;
  const selectors = role.at('aggregationRule', 'clusterRoleSelectors');
  if (selectors.list.length === 0)
    selectors.required('at least one clusterRoleSelector required if aggregationRule is non-nil');
  for (const selector of selectors.items) validateSelector(selector);
}

function validateRule(rule: Field, isNamespaced: boolean): void {
  const has = (field: string): boolean => rule.at(field).list.length > 0;
  if (!has('verbs')) rule.at('verbs').required('verbs must contain at least one value');
  if (has('nonResourceURLs')) {
    const urls = rule.at('nonResourceURLs');
    if (isNamespaced) urls.invalid('namespaced rules cannot apply to non-resource URLs');
    if (has('apiGroups') || has('resources') || has('resourceNames'))
      urls.invalid('rules cannot apply to both regular resources and non-resource URLs');
    return;
  }
  if (!has('apiGroups')) rule.at('apiGroups').required('resource rules must supply at least one api group');
  if (!has('resources')) rule.at('resources').required('resource rules must supply at least one resource');
}

/** Checks a RoleBinding or ClusterRoleBinding, with its defaults filled in. */
export function validateBinding(binding: Field): void {
  const isNamespaced = binding.at('kind').string === 'RoleBinding';
  requireOneOf(binding.at('roleRef', 'apiGroup'), [GROUP]);
  requireOneOf(binding.at('roleRef', 'kind'), isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']);
  binding.at('roleRef', 'name').require(pathSegment);
  for (const subject of binding.at('subjects').items) validateSubject(subject, isNamespaced);
}

/** A missing string counts as an empty one. */
function requireOneOf(field: Field, supported: readonly string[]): void {
  if (!supported.includes(field.string)) field.notSupported(supported, field.string);
}

function validateSubject(subject: Field, isNamespaced: boolean): void {
  const name = subject.at('name');
  const kind = subject.at('kind');
  const namespace = subject.at('namespace');
  name.require();
  switch (kind.string) {
    case 'ServiceAccount':
      name.checkIfSet(dnsSubdomain);
      requireOneOf(subject.at('apiGroup'), ['']);
      if (!isNamespaced) namespace.require();
      break;
    case 'User':
    case 'Group':
      requireOneOf(subject.at('apiGroup'), [GROUP]);
      break;
    default:
      requireOneOf(kind, ['ServiceAccount', 'User', 'Group']);
  }
}
