import { fieldsOf } from '@addon-operator/json';
import { isOutrun, type KubeClient, requestIfPresent } from '../kube-client.ts';
import { resourcePath } from '../kube-object.ts';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };

export interface LeaseRef {
  readonly namespace: string;
  readonly name: string;
}

/** A Lease object as the API server gave it. */
export type LeaseObject = Readonly<Record<string, unknown>>;

/** Reads and writes one Lease object; the server rejects a write if another client wrote in between. */
export class LeaseStore {
  readonly ref: LeaseRef;
  readonly #kube: KubeClient;
  readonly #timeoutMs: number;

  /** @param timeoutMs limit for each request */
  constructor(kube: KubeClient, ref: LeaseRef, timeoutMs: number) {
    this.#kube = kube;
    this.ref = ref;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Undefined when there is no Lease.
   *
   * @throws OperatorError KUBE_API or KUBE_UNREACHABLE
   */
  async read(signal: AbortSignal): Promise<LeaseObject | undefined> {
    const { namespace, name } = this.ref;
    const path = resourcePath(LEASES, namespace, name);
    const response = await requestIfPresent(
      this.#kube,
      { method: 'GET', path, timeoutMs: this.#timeoutMs },
      signal,
    );
    return response === undefined ? undefined : fieldsOf(response);
  }

  /**
   * Writes `spec` over what was read, or creates the Lease when there was none. Labels, annotations and fields that we
   * do not know stay.
   *
   * @param sendBeforeMs on the steady clock; at that time or later nothing is sent
   * @returns the Lease as written; undefined when another client wrote, created or deleted it in the meantime
   * @throws OperatorError KUBE_API or KUBE_UNREACHABLE
   */
  async write(
    read: LeaseObject | undefined,
    spec: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    sendBeforeMs = Number.POSITIVE_INFINITY,
  ): Promise<LeaseObject | undefined> {
    const { namespace, name } = this.ref;
    const isNew = read === undefined;
    const body = isNew
      ? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec }
      : { ...read, spec: { ...fieldsOf(read['spec']), ...spec } };
    const path = isNew ? resourcePath(LEASES, namespace) : resourcePath(LEASES, namespace, name);
    const method = isNew ? 'POST' : 'PUT';
    try {
      const request = { method, path, body, timeoutMs: this.#timeoutMs, sendBeforeMs } as const;
      return fieldsOf(await this.#kube.request(request, signal));
    } catch (error) {
      if (isOutrun(error, isNew)) return undefined;
      throw error;
    }
  }
}
