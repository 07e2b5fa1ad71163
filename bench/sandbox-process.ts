import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Backend } from '../test/support/world.ts';

/** A sandbox in a process of its own, so that its memory and its work are not taken for the daemon's. */
export interface SandboxProcess extends AsyncDisposable {
  readonly url: string;
  readonly backend: Backend;
  /** Requests of daemons and their helm processes so far, watches included. */
  requests(): Promise<number>;
}

/** What the process says once it serves. */
export interface SandboxReady {
  readonly url: string;
  readonly kubeconfigPath: string;
  readonly helmPath: string;
}

export async function startSandboxProcess(): Promise<SandboxProcess> {
  const child = fork(join(import.meta.dirname, 'sandbox-process-main.ts'));
  const [ready]: SandboxReady[] = await once(child, 'message');
  if (ready === undefined) throw new Error('the sandbox of the benchmark does not serve');
  const { url, kubeconfigPath, helmPath } = ready;
  const request: Backend['request'] = async ({ method = 'GET', path, body, contentType }) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { 'content-type': contentType ?? 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const reply: unknown = await response.json();
    return { status: response.status, body: reply };
  };
  return {
    url,
    backend: { name: 'sandbox', kubeconfigPath, helmPath, keepsNamespaces: false, request },
    requests: async () => {
      child.send('requests');
      const [count]: number[] = await once(child, 'message');
      return count ?? Number.NaN;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
