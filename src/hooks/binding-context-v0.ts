import { bindingNameOf, type RunReason } from './binding-context.ts';
import type { BindingContext, NumberedContext } from './context-document.ts';
import type { WatchEventType } from './kubernetes-binding.ts';

const RESOURCE_EVENTS: Readonly<Record<WatchEventType, string>> = {
  Added: 'add',
  Modified: 'update',
  Deleted: 'delete',
};

/** Binding contexts for a hook without `configVersion`: the binding, and of a changed object its name. */
export function buildBindingContextsV0(reasons: readonly RunReason[]): readonly NumberedContext[] {
  return reasons.map((reason, index) => ({ context: contextOf(reason), covered: index + 1 }));
}

function contextOf(reason: RunReason): BindingContext {
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
}
