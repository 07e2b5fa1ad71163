import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '@addon-operator/base/errors';
import type { ApiAccess } from './api-probe.ts';
import type { ControlPlane } from './control-plane.ts';

/** What tests need to know of a control plane. */
export interface SharedPlane {
  readonly access: ApiAccess;
  readonly kubeconfigPath: string;
}

type Plane = Pick<ControlPlane, 'access' | 'kubeconfigPath' | 'stop'>;

/**
 * The control planes of a test run, one for each worker. Each starts when a test of its worker first asks for it, because
 * an idle one takes a second of CPU time a minute.
 */
export class SharedPlanes implements AsyncDisposable {
  readonly #startPlane: () => Promise<Plane>;
  readonly #planes = new Map<string, Promise<Plane>>();
  readonly #server: Server;

  private constructor(startPlane: () => Promise<Plane>) {
    this.#startPlane = startPlane;
    this.#server = createServer(({ url = '' }, response) => {
      void this.#describe(url).then(
        (plane) => response.end(JSON.stringify(plane)),
        (error: unknown) => response.writeHead(500).end(messageOf(error)),
      );
    });
  }

  /** Listens on loopback; no control plane is started yet. */
  static async serve(startPlane: () => Promise<Plane>): Promise<SharedPlanes> {
    const planes = new SharedPlanes(startPlane);
    const { promise, resolve } = Promise.withResolvers<void>();
    planes.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return planes;
  }

  /** Where workers ask, see {@link sharedPlane}. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops all that run. One that is asked for later starts anew. */
  async stopAll(): Promise<void> {
    const started = [...this.#planes.values()];
    this.#planes.clear();
    await Promise.all(
      started.map(async (starting) => {
        const plane = await starting.catch(() => undefined);
        await plane?.stop();
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.stopAll();
  }

  async #describe(worker: string): Promise<SharedPlane> {
    const { access, kubeconfigPath } = await this.#planeOf(worker);
    return { access, kubeconfigPath };
  }

  #planeOf(worker: string): Promise<Plane> {
    const known = this.#planes.get(worker);
    if (known !== undefined) return known;
    const starting = this.#startPlane();
    this.#planes.set(worker, starting);
    starting.catch(() => this.#planes.delete(worker));
    return starting;
  }
}

/**
 * The control plane of a worker, which is started if it does not run.
 *
 * @param url of {@link SharedPlanes}
 * @param worker counted from 1
 * @throws with the reason if it cannot be started
 */
export async function sharedPlane(url: string, worker: number): Promise<SharedPlane> {
  const response = await fetch(`${url}/${worker}`);
  if (!response.ok)
    throw new Error(`There is no control plane for worker ${worker}: ${await response.text()}`);
  return (await response.json()) as SharedPlane;
}
