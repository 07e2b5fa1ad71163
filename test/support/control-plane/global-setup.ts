import type { TestProject } from 'vitest/node';
import { messageOf } from '../../../src/lib/errors.ts';
import type { ApiAccess } from './api-probe.ts';
import { ControlPlane } from './control-plane.ts';
import {
  type ControlPlanePrograms,
  findControlPlane,
  findHelm,
  HELM_VERSIONS,
  type HelmVersion,
} from './programs.ts';

/** What the cluster tests of a run share. */
export interface Cluster {
  readonly access: ApiAccess;
  readonly kubeconfigPath: string;
  readonly programs: ControlPlanePrograms;
  /** Paths of the helm executables; a version that cannot be had here is absent. */
  readonly helm: Readonly<Partial<Record<HelmVersion, string>>>;
}

export type ClusterState =
  | { readonly type: 'running'; readonly cluster: Cluster }
  | { readonly type: 'unavailable'; readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    readonly clusterState: ClusterState;
  }
}

/** Starts the one control plane of a test run, or tells the tests why there is none. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const find = {
    env: process.env,
    onProgress: (message: string) => process.stderr.write(`control plane: ${message}\n`),
  };
  let plane: ControlPlane | undefined;
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
    plane = await ControlPlane.start({ programs }, stop.signal);
    const { access, kubeconfigPath } = plane;
    const cluster = { access, kubeconfigPath, programs, helm };
    project.provide('clusterState', { type: 'running', cluster });
  } catch (error) {
    find.onProgress(`unavailable: ${messageOf(error)}`);
    project.provide('clusterState', { type: 'unavailable', reason: messageOf(error) });
  }
  return async () => {
    stop.abort();
    await plane?.stop();
  };
}
