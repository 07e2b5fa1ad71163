import { messageOf, OperatorError } from '@addon-operator/base/errors';

const CREATED = 201;
const CONFLICT = 409;

/** The objects that the daemon expects: a namespace, and the ConfigMap that users edit. */
export interface FirstObjects {
  readonly namespace: string;
  readonly configMap: string;
  /** Of the ConfigMap; default: empty. */
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Creates the namespace and the ConfigMap where they are missing.
 *
 * @param url base URL of an API that needs no credentials
 * @throws OperatorError KUBE_API when the API refuses; `signal.reason` on abort
 */
export async function createFirstObjects(
  url: string,
  { namespace, configMap, data }: FirstObjects,
  signal: AbortSignal,
): Promise<void> {
  const namespaces = '/api/v1/namespaces';
  await create(url + namespaces, object('Namespace', namespace), signal);
  await create(
    `${url}${namespaces}/${namespace}/configmaps`,
    { ...object('ConfigMap', configMap), ...(data && { data }) },
    signal,
  );
}

function object(kind: string, name: string): object {
  return { apiVersion: 'v1', kind, metadata: { name } };
}

async function create(url: string, body: object, signal: AbortSignal): Promise<void> {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
    const reply = await response.text();
    if (response.status !== CREATED && response.status !== CONFLICT) throw new Error(reply);
  } catch (cause) {
    signal.throwIfAborted();
    throw new OperatorError(
      'KUBE_API',
      `Cannot create an object of the sandbox (${url}): ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}
