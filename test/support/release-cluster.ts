import { setImmediate } from 'node:timers/promises';
import { KubeApiError, type KubeClient, type KubeRequest } from '@addon-operator/kube-client/kube-client';

const NAMESPACE = '/api/v1/namespaces/ops';
const SECRETS = `${NAMESPACE}/secrets`;

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
}

/** An API server with objects and release records in namespace `ops`, which notes every request. */
export class ReleaseCluster implements KubeClient {
  /** By URL path. */
  readonly objects = new Map<string, Stored>();
  /** `METHOD path` of every request since this was emptied; a list ends with a slash. */
  readonly calls: string[] = [];
  /** What a request for a path, a list without its slash, fails with. */
  readonly failures = new Map<string, Error>();
  /** Called before a request is answered. */
  onRequest: (path: string) => void = () => undefined;

  /** Adds, or overwrites, the record of a revision. */
  setRelease(release: string, revision: number, status: string): void {
    const labels = { owner: 'helm', name: release, version: String(revision), status };
    this.#add(SECRETS, `sh.helm.release.v1.${release}.v${revision}`, labels);
  }

  deleteRelease(release: string): void {
    for (const [path, { metadata }] of this.objects)
      if (metadata.labels['owner'] === 'helm' && metadata.labels['name'] === release)
        this.objects.delete(path);
  }

  /** @param plural of the core group, as `configmaps` */
  add(plural: string, name: string): void {
    this.#add(`${NAMESPACE}/${plural}`, name, { heritage: 'addon-operator' });
  }

  delete(plural: string, name: string): void {
    this.objects.delete(`${NAMESPACE}/${plural}/${name}`);
  }

  async request({ method, path, query }: KubeRequest): Promise<unknown> {
    const isList = query !== undefined;
    this.calls.push(`${method} ${path}${isList ? '/' : ''}`);
    this.onRequest(path);
    await setImmediate();
    const failure = this.failures.get(path);
    if (failure !== undefined) throw failure;
    if (isList) return { metadata: {}, items: this.#list(path, query['labelSelector'] ?? '') };
    const found = this.objects.get(path);
    if (found === undefined) throw new KubeApiError('not found', { status: 404, reason: 'NotFound' });
    return found;
  }

  stream(): Promise<AsyncIterable<string>> {
    return Promise.reject(new Error('there are no watches here'));
  }

  #list(collection: string, selector: string): readonly Stored[] {
    const wanted = selector.split(',').map((term) => term.split('='));
    return [...this.objects]
      .filter(([path]) => path.startsWith(`${collection}/`))
      .map(([, object]) => object)
      .filter(({ metadata }) => wanted.every(([name = '', value]) => metadata.labels[name] === value));
  }

  #add(collection: string, name: string, labels: Stored['metadata']['labels']): void {
    this.objects.set(`${collection}/${name}`, {
      metadata: {
        name,
        labels,
        uid: `uid-${name}`,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
    });
  }
}
