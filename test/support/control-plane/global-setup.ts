import { messageOf } from '@addon-operator/base/errors';
import type { TestProject } from 'vitest/node';
import type { ApiAccess } from './api-probe.ts';
import { ControlPlane } from './control-plane.ts';
import {
  type ControlPlanePrograms,
  findControlPlane,
  findHelm,
  HELM_VERSIONS,
  type HelmVersion,
} from './programs.ts';

/** What the cluster tests of a worker share. */
export interface Cluster {
  readonly access: ApiAccess;
  readonly kubeconfigPath: string;
  readonly programs: ControlPlanePrograms;
  /** Paths of the helm executables; a version that cannot be had here is absent. */
  readonly helm: Readonly<Partial<Record<HelmVersion, string>>>;
}

export type ClusterState =
  /** One for each worker: objects without a namespace of one test file must not meet those of another. */
  | { readonly type: 'running'; readonly clusters: readonly Cluster[] }
  | { readonly type: 'unavailable'; readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    readonly clusterState: ClusterState;
  }
}

/** Starts the control planes of a test run, one for each worker, or says to the tests why there is none. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const find = {
    env: process.env,
    onProgress: (message: string) => process.stderr.write(`control plane: ${message}\n`),
  };
  const planes: ControlPlane[] = [];
  try {
    const programs = await findControlPlane(find, stop.signal);
    const helm: Partial<Record<HelmVersion, string>> = {};
    for (const version of HELM_VERSIONS) {
      try {
        helm[version] = await findHelm(version, find, stop.signal);
      } catch (error) {
        find.onProgress(`no helm ${version}: ${messageOf(error)}`);
      }
    }
    while (planes.length < project.config.maxWorkers) {
      planes.push(await ControlPlane.start({ programs }, stop.signal));
    }
    const clusters = planes.map(({ access, kubeconfigPath }) => ({ access, kubeconfigPath, programs, helm }));
    project.provide('clusterState', { type: 'running', clusters });
  } catch (error) {
    find.onProgress(`unavailable: ${messageOf(error)}`);
    project.provide('clusterState', { type: 'unavailable', reason: messageOf(error) });
  }
  return async () => {
    stop.abort();
    await Promise.all(planes.map((plane) => plane.stop()));
  };
}
