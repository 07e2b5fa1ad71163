import type { BindingLabels } from '../metrics/operator-metrics.ts';
import { type Hook, moduleNameOf } from './hook.ts';
import type { KubernetesBinding } from './hook-config.ts';

/** The labels under which everything about one kubernetes binding is measured. */
export function bindingLabels(hook: Hook, binding: KubernetesBinding): BindingLabels {
  return {
    module: moduleNameOf(hook),
    hook: hook.name,
    binding: binding.name,
    queue: binding.queue,
    kind: binding.watch.kind,
  };
}
