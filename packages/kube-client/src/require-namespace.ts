import { OperatorError } from '@addon-operator/base/errors';
import { hasStatus, type KubeClient } from './kube-client.ts';
import { type RetryHost, untilAvailable } from './retry.ts';

const FORBIDDEN = 403;
const NOT_FOUND = 404;

/**
 * Makes sure that the namespace of the operator exists, waiting for an API server that is away. An account that may not
 * read namespaces is trusted.
 *
 * @throws OperatorError CONFIG_INVALID when it does not exist
 */
export async function requireNamespace(
  { namespace }: { readonly namespace: string },
  host: RetryHost,
  kube: Pick<KubeClient, 'request'>,
  stop: AbortSignal,
): Promise<void> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const request = async (): Promise<void> => {
    try {
      await kube.request({ method: 'GET', path }, stop);
    } catch (error) {
      if (hasStatus(error, FORBIDDEN)) return;
      // A proxy that knows no such path returns 404 too, but without this reason.
      if (hasStatus(error, NOT_FOUND) && error.reason === 'NotFound') throw missing(namespace, error);
      throw error;
    }
  };
  await untilAvailable('namespace', request, host, stop);
}

function missing(namespace: string, cause: unknown): OperatorError {
  return new OperatorError(
    'CONFIG_INVALID',
    `flag --namespace (variable ADDON_OPERATOR_NAMESPACE): namespace "${namespace}" does not exist; create it with "kubectl create namespace ${namespace}", or set another one`,
    { cause },
  );
}
