import type { ApiResource } from '../../kube/kube-object.ts';
import { isObject } from '../../lib/json.ts';
import { type Access, accessOfRules, type PolicyRule } from './policy-rules.ts';

type RawObject = Readonly<Record<string, unknown>>;

/** What deploying an object needs: helm creates and patches it, the operator looks whether it is still there. */
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** The resource a CustomResourceDefinition makes, by `group/Kind`; a cluster that lacks it does not know it yet. */
export function definedResource(
  object: RawObject,
): { readonly key: string; readonly group: string; readonly plural: string } | undefined {
  if (object['kind'] !== 'CustomResourceDefinition' || !isObject(object['spec'])) return undefined;
  const { group, names } = object['spec'];
  if (typeof group !== 'string' || !isObject(names)) return undefined;
  const { kind, plural } = names;
  return typeof kind === 'string' && typeof plural === 'string'
    ? { key: `${group}/${kind}`, group, plural }
    : undefined;
}

/** Kind of an object with its group, as {@link definedResource} has it in `key`. */
export function groupKindOf(object: RawObject): string {
  const { apiVersion, kind } = object;
  const version = typeof apiVersion === 'string' ? apiVersion : '';
  return `${version.includes('/') ? (version.split('/')[0] ?? '') : ''}/${typeof kind === 'string' ? kind : ''}`;
}

/**
 * What the operator needs to deploy one rendered object. Nobody may grant what he has not got himself: the rules of a
 * Role are needed too, and for a binding the right to bind the role it names.
 */
export function accessOfObject(object: RawObject, resource: Pick<ApiResource, 'group' | 'plural'>): Access[] {
  const deploying = { group: resource.group, resource: resource.plural, verbs: DEPLOYING };
  if (resource.group !== RBAC_GROUP) return [deploying];
  switch (resource.plural) {
    case 'roles':
    case 'clusterroles':
      return [deploying, ...accessOfRules(rulesOf(object))];
    case 'rolebindings':
    case 'clusterrolebindings':
      return [deploying, ...bindingOf(object)];
    default:
      return [deploying];
  }
}

function rulesOf({ rules }: RawObject): PolicyRule[] {
  if (!Array.isArray(rules)) return [];
  return rules.filter(isObject).map((rule) => ({
    apiGroups: texts(rule['apiGroups']),
    resources: texts(rule['resources']),
    verbs: texts(rule['verbs']),
    resourceNames: texts(rule['resourceNames']),
    nonResourceURLs: texts(rule['nonResourceURLs']),
  }));
}

function bindingOf({ roleRef }: RawObject): Access[] {
  if (!isObject(roleRef)) return [];
  const { kind, name } = roleRef;
  if (typeof name !== 'string') return [];
  const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  return [{ group: RBAC_GROUP, resource, verbs: ['bind'], names: [name] }];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
