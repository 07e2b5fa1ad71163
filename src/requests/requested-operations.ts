import type { Clock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import { AnnotatedOperations } from '../status/annotated-operations.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { type RequestOperationParts, runOperation } from './request-operation.ts';

export interface RequestedOperationsOptions {
  readonly settings: InstanceSettings;
  readonly host: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly cluster: { readonly status: KubeClient };
  /** The Module objects; undefined where the settings switch them off. */
  readonly objects: ModuleObjects | undefined;
  readonly stop: AbortSignal;
}

/**
 * Creates the source of operations that users request by annotations of Module objects; undefined
 * where there are none.
 */
export function createAnnotatedOperations({
  settings,
  host,
  cluster,
  objects,
  stop,
}: RequestedOperationsOptions): AnnotatedOperations | undefined {
  if (objects === undefined) return undefined;
  const { clock, random, log } = host;
  return new AnnotatedOperations(
    {
      objects: objects.objects,
      kube: cluster.status,
      clock,
      random,
      log,
      operator: `${settings.namespace}/${settings.configMapName}`,
      onUnknown: (module, message) => {
        objects
          .record(module, { type: 'Warning', reason: 'UnknownOperation', message }, stop)
          // An Event is a courtesy: without the permission to write it, the log has the message.
          .catch((error: unknown) => {
            if (!stop.aborted) log.warn({ module, ...errorFields(error) }, 'cannot write an Event');
          });
      },
    },
    stop,
  );
}

/**
 * Wakes a task for each annotation. The request itself stays on the object until a reconcile takes
 * it over.
 */
export function watchAnnotations(annotated: AnnotatedOperations, operator: RequestOperationParts): void {
  annotated.watch((name, operation) => {
    const module = operator.registry.find(name);
    if (module !== undefined) runOperation(operator, module.name, operation);
  });
}
