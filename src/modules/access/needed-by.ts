import { isObject, stringOf, stringsOf } from '@addon-operator/json';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { hasPods } from '@addon-operator/kube-client/pod-trouble';
import {
  type Access,
  accessOfRules,
  type PolicyRule,
  type ResourceAccess,
} from '@addon-operator/kube-client/policy-rules';
import type { HookConfig, KubernetesBinding } from '../../hook-config/hook-config.ts';
import type { SecretReference } from '../../values/secrets/secret-reference.ts';

type RawObject = Readonly<Record<string, unknown>>;

/** The facts about a resource that a rule needs. */
export type ScopedResource = Pick<ApiResource, 'group' | 'plural' | 'isNamespaced'>;

/**
 * The verbs to deploy an object: helm creates and patches it, the operator checks that it exists.
 */
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/**
 * The resource that a CustomResourceDefinition defines, by `group/Kind`; the cluster may not serve
 * it yet.
 */
export function definedResource(object: RawObject): (ScopedResource & { readonly key: string }) | undefined {
  if (object['kind'] !== 'CustomResourceDefinition' || !isObject(object['spec'])) return undefined;
  const { group, names, scope } = object['spec'];
  if (typeof group !== 'string' || !isObject(names)) return undefined;
  const { kind, plural } = names;
  return typeof kind === 'string' && typeof plural === 'string'
    ? { key: `${group}/${kind}`, group, plural, isNamespaced: scope === 'Namespaced' }
    : undefined;
}

/** The group and kind of an object, in the format of `key` in {@link definedResource}. */
export function groupKindOf(object: RawObject): string {
  const version = stringOf(object['apiVersion']);
  return `${version.includes('/') ? (version.split('/')[0] ?? '') : ''}/${stringOf(object['kind'])}`;
}

/** The operator lists the pods of a workload to explain why it is not ready. */
export function accessOfPods(objects: readonly RawObject[], ownNamespace: string): Access[] {
  const workloads = objects.filter((object) =>
    hasPods({ apiVersion: stringOf(object['apiVersion']), kind: stringOf(object['kind']) }),
  );
  const namespaces = new Set(workloads.map((object) => metadataField(object, 'namespace') ?? ownNamespace));
  return [...namespaces].map((namespace) => ({ group: '', resource: 'pods', verbs: ['list'], namespace }));
}

/** The namespace that a rendered Namespace creates. */
export function createdNamespace(object: RawObject): string | undefined {
  return groupKindOf(object) === '/Namespace' ? metadataField(object, 'name') : undefined;
}

/**
 * The access to deploy one rendered object, in its namespace. An account can grant only permissions
 * that it has: the rules of a Role are needed too, and for a binding the verb `bind` on its role.
 *
 * @param ownNamespace the default namespace of objects
 */
export function accessOfObject(object: RawObject, resource: ScopedResource, ownNamespace: string): Access[] {
  const { group, plural, isNamespaced } = resource;
  const place = isNamespaced ? { namespace: metadataField(object, 'namespace') ?? ownNamespace } : {};
  const deploying = { group, resource: plural, verbs: DEPLOYING, ...place };
  if (group !== RBAC_GROUP) return [deploying];
  switch (plural) {
    case 'roles':
    case 'clusterroles':
      return [deploying, ...accessOfRules(rulesOf(object)).map((access) => ({ ...access, ...place }))];
    case 'rolebindings':
    case 'clusterrolebindings':
      return [deploying, ...bindingOf(object).map((access) => ({ ...access, ...place }))];
    default:
      return [deploying];
  }
}

function metadataField({ metadata }: RawObject, key: 'name' | 'namespace'): string | undefined {
  const value = isObject(metadata) ? metadata[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function rulesOf({ rules }: RawObject): PolicyRule[] {
  if (!Array.isArray(rules)) return [];
  return rules.filter(isObject).map((rule) => ({
    apiGroups: stringsOf(rule['apiGroups']),
    resources: stringsOf(rule['resources']),
    verbs: stringsOf(rule['verbs']),
    resourceNames: stringsOf(rule['resourceNames']),
    nonResourceURLs: stringsOf(rule['nonResourceURLs']),
  }));
}

function bindingOf({ roleRef }: RawObject): ResourceAccess[] {
  if (!isObject(roleRef)) return [];
  const { kind, name } = roleRef;
  if (typeof name !== 'string') return [];
  const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  return [{ group: RBAC_GROUP, resource, verbs: ['bind'], names: [name] }];
}

const DEFINITIONS = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

/** The access to install CRDs, and to wait until they are served. */
export const CRD_ACCESS: readonly Access[] = [
  { ...DEFINITIONS, verbs: ['get', 'list', 'watch', 'create', 'update'] },
  { ...DEFINITIONS, resource: `${DEFINITIONS.resource}/status`, verbs: ['update'] },
];

/**
 * The access to follow Secrets that values refer to. In its own namespace the operator may read
 * them anyway, because helm stores releases there.
 */
export function accessOfSecrets(references: readonly SecretReference[], ownNamespace: string): Access[] {
  return references
    .filter(({ namespace }) => namespace !== ownNamespace)
    .map(({ namespace, name }) => ({
      group: '',
      resource: 'secrets',
      verbs: ['list', 'watch'],
      names: [name],
      namespace,
    }));
}

const WATCHING = ['list', 'watch'];
const NAMESPACES: Access = { group: '', resource: 'namespaces', verbs: WATCHING };
const WEBHOOK_VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/**
 * The access to watch the objects of a binding; `resource` is its kind. Namespaces and names in the
 * binding limit it.
 */
export function accessOfBinding(
  { watch }: Pick<KubernetesBinding, 'watch'>,
  resource: ScopedResource,
): Access[] {
  const { nameSelector = [], namespace } = watch;
  const objects = {
    group: resource.group,
    resource: resource.plural,
    verbs: WATCHING,
    ...(nameSelector.length === 0 ? {} : { names: nameSelector }),
  };
  if (!resource.isNamespaced) return [objects];
  if (namespace?.labelSelector !== undefined) return [objects, NAMESPACES];
  const places = [...new Set(namespace?.nameSelector)];
  return places.length === 0 ? [objects] : places.map((place) => ({ ...objects, namespace: place }));
}

/** The access to register the webhooks of a hook. */
export function accessOfWebhooks({ admission, conversion }: HookConfig): Access[] {
  const registrations = [...new Set(admission.map(({ type }) => type))].map((type) => ({
    group: 'admissionregistration.k8s.io',
    resource:
      type === 'kubernetesValidating' ? 'validatingwebhookconfigurations' : 'mutatingwebhookconfigurations',
    verbs: WEBHOOK_VERBS,
  }));
  const definitions = {
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    verbs: ['get', 'list', 'watch', 'patch'],
  };
  return conversion.length === 0 ? registrations : [...registrations, definitions];
}
