import type { HookConfig, KubernetesBinding } from '../../hooks/hook-config.ts';
import type { ScopedResource } from './object-access.ts';
import type { Access } from './policy-rules.ts';

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
