import { errorFields } from '../lib/errors.ts';
import { AnnotatedOperations } from '../status/annotated-operations.ts';
import type { BuildOptions } from './build-options.ts';

/** What users ask for by annotations of Module objects; undefined where there are none. */
export function createAnnotatedOperations({
  settings,
  host,
  base,
  objects,
  stop,
}: BuildOptions): AnnotatedOperations | undefined {
  if (objects === undefined) return undefined;
  const { clock, random, log } = host;
  return new AnnotatedOperations(
    {
      objects: objects.objects,
      kube: base.cluster.status,
      clock,
      random,
      log,
      operator: `${settings.namespace}/${settings.configMapName}`,
      onUnknown: (module, message) => {
        objects
          .record(module, { type: 'Warning', reason: 'UnknownOperation', message }, stop)
          .catch((error: unknown) => {
            if (!stop.aborted) log.warn({ module, ...errorFields(error) }, 'cannot write an Event');
          });
      },
    },
    stop,
  );
}
