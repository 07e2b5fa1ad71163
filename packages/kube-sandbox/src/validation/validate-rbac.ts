import { listAt, stringAt, valueAt } from '../json-access.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { FieldErrors } from './field-errors.ts';
import { dnsSubdomain, pathSegment } from './name-rules.ts';
import { validateSelector } from './validate-meta.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Checks the rules of a Role or ClusterRole. */
export function validateRole(role: ResourceObject, errors: FieldErrors): void {
  const isNamespaced = role.kind === 'Role';
  for (const [index, rule] of listAt(role, 'rules').entries())
    validateRule(rule, isNamespaced, `rules[${index}]`, errors);
  if (valueAt(role, 'aggregationRule') === undefined) return;
  const selectors = listAt(role, 'aggregationRule', 'clusterRoleSelectors');
  const path = 'aggregationRule.clusterRoleSelectors';
  if (selectors.length === 0)
    errors.required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
  for (const [index, selector] of selectors.entries())
    validateSelector(selector, `${path}[${index}]`, errors);
}

function validateRule(rule: unknown, isNamespaced: boolean, path: string, errors: FieldErrors): void {
  const [verbs, urls, groups, resources, names] = [
    'verbs',
    'nonResourceURLs',
    'apiGroups',
    'resources',
    'resourceNames',
  ].map((field) => listAt(rule, field));
  const has = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0;
  if (!has(verbs)) errors.required(`${path}.verbs`, 'verbs must contain at least one value');
  if (has(urls)) {
    if (isNamespaced)
      errors.invalid(`${path}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs');
    if (has(groups) || has(resources) || has(names))
      errors.invalid(
        `${path}.nonResourceURLs`,
        urls,
        'rules cannot apply to both regular resources and non-resource URLs',
      );
    return;
  }
  if (!has(groups)) errors.required(`${path}.apiGroups`, 'resource rules must supply at least one api group');
  if (!has(resources))
    errors.required(`${path}.resources`, 'resource rules must supply at least one resource');
}

/** Checks a RoleBinding or ClusterRoleBinding, with its defaults filled in. */
export function validateBinding(binding: ResourceObject, errors: FieldErrors): void {
  const isNamespaced = binding.kind === 'RoleBinding';
  const apiGroup = stringAt(binding, 'roleRef', 'apiGroup');
  if (apiGroup !== GROUP) errors.notSupported('roleRef.apiGroup', apiGroup, [GROUP]);
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const kind = stringAt(binding, 'roleRef', 'kind');
  if (!kinds.includes(kind)) errors.notSupported('roleRef.kind', kind, kinds);
  const name = stringAt(binding, 'roleRef', 'name');
  if (name === '') errors.required('roleRef.name');
  else errors.invalidEach('roleRef.name', name, pathSegment(name));
  for (const [index, subject] of listAt(binding, 'subjects').entries())
    validateSubject(subject, isNamespaced, `subjects[${index}]`, errors);
}

function validateSubject(subject: unknown, isNamespaced: boolean, path: string, errors: FieldErrors): void {
  const name = stringAt(subject, 'name');
  const apiGroup = stringAt(subject, 'apiGroup');
  if (name === '') errors.required(`${path}.name`);
  switch (stringAt(subject, 'kind')) {
    case 'ServiceAccount':
      if (name !== '') errors.invalidEach(`${path}.name`, name, dnsSubdomain(name));
      if (apiGroup !== '') errors.notSupported(`${path}.apiGroup`, apiGroup, ['']);
      if (!isNamespaced && stringAt(subject, 'namespace') === '') errors.required(`${path}.namespace`);
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) errors.notSupported(`${path}.apiGroup`, apiGroup, [GROUP]);
      break;
    default:
      errors.notSupported(`${path}.kind`, stringAt(subject, 'kind'), ['ServiceAccount', 'User', 'Group']);
  }
}
