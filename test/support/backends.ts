import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { mapParallel } from '@addon-operator/concurrency/bounded-work';
import { type Sandbox, startSandbox } from '@addon-operator/kube-sandbox';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../../src/tools/pinned-tools/pinned-tools.ts';
import { ApiProbe, type ApiResponse, type ProbeRequest } from './control-plane/api-probe.ts';
import type { Cluster } from './control-plane/global-setup.ts';
import type { Backend } from './world.ts';

const never = new AbortController().signal;

/** The real control plane of the worker. Namespaces of worlds stay in it until the end of the run. */
export async function controlPlaneBackend(cluster: Cluster): Promise<Backend> {
  const probe = new ApiProbe(cluster.access);
  return {
    name: 'control plane',
    kubeconfigPath: cluster.kubeconfigPath,
    helmPath: await helmForTests(),
    keepsNamespaces: true,
    request: (request) => probe.request(request),
  };
}

/**
 * The same for tests of hooks that go through all namespaces: deletes those that other tests have left, and its worlds
 * delete theirs.
 */
export async function tidyControlPlaneBackend(cluster: Cluster): Promise<Backend> {
  const backend = await controlPlaneBackend(cluster);
  const { items } = (await new ApiProbe(cluster.access).expect({
    path: '/api/v1/namespaces',
  })) as NamespaceList;
  const left = items.filter(({ metadata }) => LEFT_NAMESPACE.test(metadata.name));
  await mapParallel(left, 10, async ({ metadata }) => {
    await backend.request({ method: 'DELETE', path: `/api/v1/namespaces/${metadata.name}` });
  });
  return { ...backend, keepsNamespaces: false };
}

/** Of `World` and `HelmWorld`. */
const LEFT_NAMESPACE = /^(world|helm-driver)-/;

interface NamespaceList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Disposing it ends the sandbox and removes its kubeconfig. */
export interface SandboxBackend extends Backend, AsyncDisposable {
  readonly sandbox: Sandbox;
}

/** A sandbox of its own, in memory. */
export async function sandboxBackend(): Promise<SandboxBackend> {
  const sandbox = await startSandbox({ clock: systemClock, log: silentLogger }, never);
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const kubeconfigPath = join(directory, 'kubeconfig');
  await writeFile(kubeconfigPath, sandbox.kubeconfig);
  return {
    name: 'sandbox',
    sandbox,
    kubeconfigPath,
    helmPath: await helmForTests(),
    keepsNamespaces: false,
    request: (request) => plainRequest(sandbox.url, request),
    async [Symbol.asyncDispose]() {
      await sandbox.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function helmForTests(): Promise<string> {
  return pinnedHelm(3, { cacheDir: cacheDirectory(process.env, homedir()) }, never);
}

async function plainRequest(
  url: string,
  { method = 'GET', path, body, contentType, accept = 'application/json' }: ProbeRequest,
): Promise<ApiResponse> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { 'content-type': contentType ?? 'application/json', accept },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) as unknown };
  } catch {
    return { status: response.status, body: text };
  }
}
