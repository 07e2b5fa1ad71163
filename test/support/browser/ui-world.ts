import { readFile } from 'node:fs/promises';
import { DaemonProcess } from '../daemon-process.ts';
import type { Backend } from '../world.ts';
import { World, type WorldOptions } from '../world.ts';

/** Address of the page of a running daemon. */
export interface UiAddress {
  /** Such as `http://127.0.0.1:9652`. */
  readonly origin: string;
  readonly token: string;
}

/** Flags with which a daemon of a world serves the page. */
export const UI_FLAGS = { ui: 'loopback', 'ui-port': '0' };

/** A world whose daemon is a process of its own, and serves the page. Times are real there. */
export class UiWorld implements AsyncDisposable {
  readonly world: World;
  #daemon: DaemonProcess | undefined;
  readonly #flags: Readonly<Record<string, string>>;

  private constructor(world: World, flags: Readonly<Record<string, string>>) {
    this.world = world;
    this.#flags = flags;
  }

  /** Writes everything down; {@link launch} starts the daemon. @param options `flags` are added to those that the page needs */
  static async create(backend: Backend, options: WorldOptions): Promise<UiWorld> {
    return new UiWorld(await World.create(backend, options), { ...UI_FLAGS, ...options.flags });
  }

  get daemon(): DaemonProcess {
    if (this.#daemon === undefined) throw new Error('the daemon of this world is not running');
    return this.#daemon;
  }

  /** Starts the daemon, for the first time or after it was killed. */
  launch(): void {
    this.#daemon = DaemonProcess.start(this.world, this.#flags);
  }

  /** Waits until the page is served. */
  async address(): Promise<UiAddress> {
    await this.daemon.log.until((records) => records.some(({ msg }) => isServed(msg)));
    return await uiAddress(this.world);
  }

  /** What an URL of the API answers. */
  async api<RouteResponse>(path: string): Promise<RouteResponse> {
    return await apiOf(await this.address(), path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.kill();
    await this.world[Symbol.asyncDispose]();
  }
}

/** The address of the page that the daemon of a world serves: `addon-operator ui` prints the same. */
export async function uiAddress(world: Pick<World, 'flags'>): Promise<UiAddress> {
  const file = `${world.flags['debug-unix-socket'] ?? ''}.ui`;
  const url = new URL((await readFile(file, 'utf8')).trim());
  return { origin: url.origin, token: new URLSearchParams(url.hash.slice(1)).get('token') ?? '' };
}

/** A page with the token, as it is opened the first time. */
export function pageUrl({ origin, token }: UiAddress, path = ''): string {
  return `${origin}/ui/${path}#token=${token}`;
}

/** What an URL of the API answers. */
export async function apiOf<RouteResponse>(
  { origin, token }: UiAddress,
  path: string,
): Promise<RouteResponse> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/api/v1/${path}`, { headers });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as RouteResponse;
}

function isServed(message: unknown): boolean {
  return typeof message === 'string' && message.startsWith('the page is served');
}
