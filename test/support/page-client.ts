import { expect } from 'vitest';
import type { World } from './world.ts';
import { runInWorld } from './world-command.ts';

/** A client with the token of the page. */
export interface PageClient {
  readonly address: string;
  readonly token: string;
  /** Below `/api/v1/`. */
  read(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Requests an action. */
  act(path: string, body: object): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** What `addon-operator ui` leads to. */
export async function openPage(world: World): Promise<PageClient> {
  const { exitCode, stdout } = await runInWorld(world, 'ui');
  expect(exitCode).toBe(0);
  const [, address = '', token = ''] =
    /^(http:\/\/127\.0\.0\.1:\d+\/ui\/)#token=(\S{43})\n$/.exec(stdout) ?? [];
  const read: PageClient['read'] = async (path, init = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(new URL(`../api/v1/${path}`, address), { headers, ...init });
    return { status: response.status, body: await response.json() };
  };
  const act: PageClient['act'] = (path, body) => read(path, { method: 'POST', body: JSON.stringify(body) });
  return { address, token, read, act };
}
