import { startRegistry } from './registry-process.ts';

/** Changes the responses to matching requests. The first fault that matches counts. */
export interface RegistryFault {
  /** Default: any. */
  readonly method?: string;
  /** A regular expression for the path with its query, such as `/manifests/stable$` or `/blobs/`. */
  readonly path: string;
  /** How many requests it holds for. Default: all. */
  readonly times?: number;
  /** In place of the registry's response. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the body. */
  readonly body?: string;
  /** Headers of the response that are left out. */
  readonly remove?: readonly string[];
  /** The connection ends after so many bytes of the body; -1 is before the response. */
  readonly cutAt?: number;
  /** The byte there is another one. */
  readonly flipAt?: number;
  /** There is no response. */
  readonly hang?: boolean;
  /** After the response, the manifest at the path `from` is put at the path `to`: a tag moves between two requests. */
  readonly afterwards?: { readonly from: string; readonly to: string };
}

export interface RegistryRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly authorization?: string;
  readonly range?: string;
  /** Bytes of the body of the request that were read. */
  readonly bytes: number;
}

/**
 * A registry in memory on loopback without accounts, with the referrers API and with faults that tests choose. It forgets
 * everything at its end. See `go/main.go`.
 */
export class FaultRegistry implements AsyncDisposable {
  /** `localhost:PORT`. */
  readonly host: string;
  readonly #stop: () => Promise<void>;

  private constructor(host: string, stop: () => Promise<void>) {
    this.host = host;
    this.#stop = stop;
  }

  static async start(
    signal: AbortSignal,
    options: { readonly hasReferrers?: boolean; readonly port?: number } = {},
  ): Promise<FaultRegistry> {
    const { host, stop } = await startRegistry(
      'faultRegistry',
      async (address) =>
        await Promise.resolve(['-address', address, `-referrers=${options.hasReferrers ?? true}`]),
      { port: options.port },
      signal,
    );
    const registry = new FaultRegistry(host, stop);
    await registry.clearLog();
    return registry;
  }

  /** `oci://localhost:PORT/NAME`. */
  url(name: string): string {
    return `oci://${this.host}/${name}`;
  }

  /** Replaces all faults; without arguments the registry is well again. */
  async setFaults(...faults: readonly RegistryFault[]): Promise<void> {
    await this.#admin('PUT', 'faults', JSON.stringify(faults));
  }

  /** Requests since the start or `clearLog`, in the order of their responses. */
  async accessLog(): Promise<readonly RegistryRequest[]> {
    return (await (await this.#admin('GET', 'log')).json()) as readonly RegistryRequest[];
  }

  async clearLog(): Promise<void> {
    await this.#admin('DELETE', 'log');
  }

  /** Bytes of all layers of an image, as they are stored. */
  async packedBytes(image: string): Promise<number> {
    const [, repository, digest] = /^[^/]+\/(.*)@(sha256:.*)$/.exec(image) ?? [];
    const response = await fetch(`http://${this.host}/v2/${repository}/manifests/${digest}`, {
      headers: { Accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    const { layers } = (await response.json()) as { readonly layers: readonly { readonly size: number }[] };
    return layers.reduce((sum, { size }) => sum + size, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  async #admin(method: string, path: string, body?: string): Promise<Response> {
    const response = await fetch(`http://${this.host}/_admin/${path}`, {
      method,
      ...(body !== undefined && { body }),
    });
    if (!response.ok) throw new Error(`The registry refused ${method} ${path}: ${await response.text()}`);
    return response;
  }
}
