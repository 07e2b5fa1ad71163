import { fieldsOf } from '@addon-operator/json';
import type { ApiResource } from '../kube-object.ts';
import { type WatchDeps, watch } from '../reflector-watch.ts';
import type { LeaseObject, LeaseRef } from './lease-store.ts';

const LEASES: ApiResource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  shortNames: [],
  isNamespaced: true,
  verbs: ['watch'],
};

/**
 * Waits until another client writes or deletes a Lease. Also resolves when the watch breaks, because a change may have been
 * missed then. A watch that the server closes in good order is opened again.
 *
 * @param lease the Lease as it was written or read last
 * @throws KubeApiError when the server refuses, with status 403 without permission to watch the Lease
 * @throws OperatorError KUBE_UNREACHABLE when the connection cannot be made
 * @throws `signal.reason` on abort
 */
export async function leaseChange(
  deps: WatchDeps,
  { namespace, name }: LeaseRef,
  lease: LeaseObject,
  signal: AbortSignal,
): Promise<void> {
  const selection = { resource: LEASES, namespace, fieldSelector: `metadata.name=${name}` };
  let position = fieldsOf(lease['metadata'])['resourceVersion'];
  while (typeof position === 'string') {
    for await (const notice of watch(deps, { selection, resourceVersion: position }, signal)) {
      if (notice.type === 'bookmark') position = notice.resourceVersion;
      else if (notice.type !== 'end' || notice.reason !== 'closed') return;
    }
  }
}
