import { type BindingContext, bindingNameOf, type RunReason } from './binding-context.ts';
import type { WatchEventType } from './kubernetes-binding.ts';

const RESOURCE_EVENTS: Readonly<Record<WatchEventType, string>> = {
  Added: 'add',
  Modified: 'update',
  Deleted: 'delete',
};

/** Binding contexts for a hook without `configVersion`: the binding, and of a changed object its name. */
export function buildBindingContextsV0(reasons: readonly RunReason[]): readonly BindingContext[] {
  return reasons.map((reason) => {
    const binding = bindingNameOf(reason);
    if (reason.type !== 'event') return { binding };
    const { watchEvent, item } = reason.event;
    return {
      binding,
      resourceEvent: RESOURCE_EVENTS[watchEvent],
      resourceNamespace: item.object?.metadata.namespace ?? '',
      resourceKind: item.object?.kind ?? '',
      resourceName: item.object?.metadata.name ?? '',
    };
  });
}
