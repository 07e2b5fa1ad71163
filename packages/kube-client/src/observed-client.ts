import type { ApiHealth } from './api-health.ts';
import { KubeApiError, type KubeClient } from './kube-client.ts';

/** The client, with the outcome of each of its requests observed. */
export function observedClient(kube: KubeClient, health: Pick<ApiHealth, 'observe'>): KubeClient {
  const observe = async <T>(request: Promise<T>): Promise<T> => {
    try {
      const response = await request;
      health.observe({ status: 200 });
      return response;
    } catch (error) {
      health.observe({ status: error instanceof KubeApiError ? error.status : undefined, error });
      throw error;
    }
  };
  return {
    request: (request, signal) => observe(kube.request(request, signal)),
    stream: (request, signal) => observe(kube.stream(request, signal)),
  };
}
