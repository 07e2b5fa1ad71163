import { hasStatus, type KubeClient, type KubeRequest } from './kube-client.ts';

/** What an API server answers, in place of a Status object, about a kind that it does not serve. */
const UNSERVED = ': 404 page not found';

/**
 * Sends a request about something that may not exist: undefined when the API server says that it does not, or that it does
 * not serve the kind. A page of a proxy with any status is an error: otherwise objects would look deleted.
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
    if (hasStatus(error, 404) && (error.reason === 'NotFound' || error.message.endsWith(UNSERVED)))
      return undefined;
    throw error;
  }
}
