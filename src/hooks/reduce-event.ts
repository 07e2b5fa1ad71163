import type { ConfigVersion, KubernetesBinding } from './hook-config.ts';
import type { KubernetesEvent } from './kubernetes-binding.ts';

/**
 * What of an event the context of a hook will hold: nothing of the object for a group, whose snapshots say all, and its
 * names for a hook of the old format. The rest of the object need not be kept while the event waits.
 */
export function reduceEvent(
  event: KubernetesEvent,
  version: ConfigVersion,
  { group }: Pick<KubernetesBinding, 'group'>,
): KubernetesEvent {
  if (version === 'v0') return { ...event, item: namesOf(event.item) };
  return group === undefined ? event : { ...event, item: {} };
}

function namesOf({ object }: KubernetesEvent['item']): KubernetesEvent['item'] {
  if (object === undefined) return {};
  const { kind, metadata } = object;
  const { name, namespace } = metadata;
  const names = { name, ...(namespace !== undefined && { namespace }) };
  return { object: { ...(kind !== undefined && { kind }), metadata: names } };
}
