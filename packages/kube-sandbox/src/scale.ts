import { type Fields, fieldsAt, numberAt, stringsAt, valueAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';
import { invalid, invalidValue } from './status-error.ts';

/** The `scale` subresource of a workload. */
export function scaleOf(workload: ResourceObject): ResourceObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata;
  const replicas = numberAt(workload, 'spec', 'replicas') ?? 0;
  const selector = Object.entries(selectorLabels(workload)).map(([key, value]) => `${key}=${value}`);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    // A Scale leaves out a zero, and reads a missing number as one.
    spec: replicas > 0 ? { replicas } : {},
    status: {
      replicas: numberAt(workload, 'status', 'replicas') ?? 0,
      selector: selector.toSorted().join(','),
    },
  };
}

function selectorLabels(workload: ResourceObject): Readonly<Record<string, string>> {
  const isPlain = workload.kind === 'ReplicationController';
  return isPlain
    ? stringsAt(workload, 'spec', 'selector')
    : stringsAt(workload, 'spec', 'selector', 'matchLabels');
}

/**
 * A workload with the replicas that a changed scale requests.
 *
 * @throws StatusError 422
 */
export function withScale(workload: ResourceObject, scale: Fields): ResourceObject {
  const replicas = valueAt(scale, 'spec', 'replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    const cause = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale', name: workload.metadata.name }, [cause]);
  }
  const resourceVersion = valueAt(scale, 'metadata', 'resourceVersion');
  const metadata =
    typeof resourceVersion === 'string' ? { ...workload.metadata, resourceVersion } : workload.metadata;
  return { ...workload, metadata, spec: { ...fieldsAt(workload, 'spec'), replicas } };
}
