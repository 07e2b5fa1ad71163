import { isObject } from '@addon-operator/json';
import { hasStatus, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';
import type { ChangedObject, ReportedChange } from './object-changes.ts';

const DRY_RUN = 'All';

/**
 * The same client, whose writes are reported, and without `isApplied` are dry runs: the API server checks them with all it has,
 * such as quotas and webhooks, and stores nothing.
 */
export function watchedWrites(
  kube: KubeClient,
  isApplied: boolean,
  onChange: (change: ReportedChange) => void,
): KubeClient {
  const before = async ({ path }: KubeRequest, signal: AbortSignal): Promise<ChangedObject | undefined> => {
    try {
      return objectIn(await kube.request({ method: 'GET', path }, signal));
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 405)) return undefined;
      throw error;
    }
  };
  return {
    stream: (request, signal) => kube.stream(request, signal),
    request: async (request, signal) => {
      const { method, query } = request;
      if (method === 'GET') return await kube.request(request, signal);
      const previous = method === 'POST' ? undefined : await before(request, signal);
      const sent = isApplied ? request : { ...request, query: { ...query, dryRun: DRY_RUN } };
      const response = await kube.request(sent, signal);
      const object = objectIn(response);
      if (method === 'DELETE') {
        if (previous !== undefined) onChange({ type: 'removed', object: previous, previous });
      } else if (object !== undefined)
        onChange({ type: previous === undefined ? 'added' : 'modified', object, previous });
      return response;
    },
  };
}

function objectIn(response: unknown): ChangedObject | undefined {
  if (!isObject(response) || !isObject(response['metadata']) || response['kind'] === 'Status')
    return undefined;
  return response as unknown as ChangedObject;
}
