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

/** What one has to know of a resource to grant access to it. */
export type ScopedResource = Pick<ApiResource, 'group' | 'plural' | 'isNamespaced'>;

/** What deploying an object needs: helm creates and patches it, the operator checks whether it is still there. */
const DEPLOYING = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** The resource a CustomResourceDefinition makes, by `group/Kind`; a cluster that lacks it does not know it yet. */
export function definedResource(object: RawObject): (ScopedResource & { readonly key: string }) | undefined {
  if (object['kind'] !== 'CustomResourceDefinition' || !isObject(object['spec'])) return undefined;
  const { group, names, scope } = object['spec'];
  if (typeof group !== 'string' || !isObject(names)) return undefined;
  const { kind, plural } = names;
  return typeof kind === 'string' && typeof plural === 'string'
    ? { key: `${group}/${kind}`, group, plural, isNamespaced: scope === 'Namespaced' }
    : undefined;
}

/** Kind of an object with its group, as {@link definedResource} has it in `key`. */
export function groupKindOf(object: RawObject): string {
  const version = stringOf(object['apiVersion']);
  return `${version.includes('/') ? (version.split('/')[0] ?? '') : ''}/${stringOf(object['kind'])}`;
}

/** To say why a workload is not ready, the operator looks at its pods. */
export function accessOfPods(objects: readonly RawObject[], ownNamespace: string): Access[] {
  const workloads = objects.filter((object) =>
    hasPods({ apiVersion: stringOf(object['apiVersion']), kind: stringOf(object['kind']) }),
  );
  const namespaces = new Set(workloads.map((object) => metadataText(object, 'namespace') ?? ownNamespace));
  return [...namespaces].map((namespace) => ({ group: '', resource: 'pods', verbs: ['list'], namespace }));
}

/** The namespace that a rendered Namespace makes. */
export function createdNamespace(object: RawObject): string | undefined {
  return groupKindOf(object) === '/Namespace' ? metadataText(object, 'name') : undefined;
}

/**
 * What the operator needs to deploy one rendered object, in the namespace of the object. A user can grant only the
 * permissions that the user has: the rules of a Role are needed too, and for a binding the right to bind the role it names.
 *
 * @param ownNamespace of objects that name none
 */
export function accessOfObject(object: RawObject, resource: ScopedResource, ownNamespace: string): Access[] {
  const { group, plural, isNamespaced } = resource;
  const place = isNamespaced ? { namespace: metadataText(object, 'namespace') ?? ownNamespace } : {};
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

function metadataText({ metadata }: RawObject, key: 'name' | 'namespace'): string | undefined {
  const text = isObject(metadata) ? metadata[key] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
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

/** What the operator needs to bring the CRDs of a module into the cluster and to wait until they are served. */
export const CRD_ACCESS: readonly Access[] = [
  { ...DEFINITIONS, verbs: ['get', 'list', 'watch', 'create', 'update'] },
  { ...DEFINITIONS, resource: `${DEFINITIONS.resource}/status`, verbs: ['update'] },
];

/**
 * What the operator needs to follow the Secrets that values refer to. In its own namespace it may read them anyway, since
 * releases lie there.
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
 * What the operator needs to watch for a binding; `resource` is the kind it names. Namespaces and objects that the
 * binding names limit it.
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

/** What the operator needs to have the API server call the webhooks of a hook. */
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
