import { hasStatus, type KubeClient, type KubeRequest } from './kube-client.ts';

/**
 * Sends a request about something that may not exist: undefined when the server answers 404.
 *
 * @throws KubeApiError for every other refusal; whatever else the client throws
 */
export async function requestIfPresent(
  kube: Pick<KubeClient, 'request'>,
  request: KubeRequest,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await kube.request(request, signal);
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
