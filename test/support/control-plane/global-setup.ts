import { messageOf } from '@addon-operator/base/errors';
import type { TestProject } from 'vitest/node';
import { whenProjectEnds } from '../ended-projects.ts';
import { ControlPlane } from './control-plane.ts';
import {
  type ControlPlanePrograms,
  findControlPlane,
  findHelm,
  HELM_VERSIONS,
  type HelmVersion,
} from './programs.ts';
import { type SharedPlane, SharedPlanes } from './shared-planes.ts';

/** What the cluster tests of a worker share. */
export interface Cluster extends SharedPlane {
  readonly programs: ControlPlanePrograms;
  /** Paths of the helm executables; a version that cannot be had here is absent. */
  readonly helm: Readonly<Partial<Record<HelmVersion, string>>>;
}

export type ClusterState =
  | {
      readonly type: 'available';
      /** Where a worker gets its control plane: objects without a namespace of one test file must not meet those of another. */
      readonly url: string;
      readonly programs: ControlPlanePrograms;
      readonly helm: Cluster['helm'];
    }
  | { readonly type: 'unavailable'; readonly reason: string };

declare module 'vitest' {
  export interface ProvidedContext {
    readonly clusterState: ClusterState;
  }
}

/** Serves the control planes of a test run, or says to the tests why there is none. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const find = {
    env: process.env,
    onProgress: (message: string) => process.stderr.write(`control plane: ${message}\n`),
  };
  await using cleanup = new AsyncDisposableStack();
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
    const planes = cleanup.use(await SharedPlanes.serve(() => ControlPlane.start({ programs }, stop.signal)));
    cleanup.defer(whenProjectEnds(project.name, () => void planes.stopAll()));
    project.provide('clusterState', { type: 'available', url: planes.url, programs, helm });
  } catch (error) {
    find.onProgress(`unavailable: ${messageOf(error)}`);
    project.provide('clusterState', { type: 'unavailable', reason: messageOf(error) });
  }
  // First of all: a control plane that still starts gives up.
  cleanup.defer(() => stop.abort());
  const stack = cleanup.move();
  return () => stack.disposeAsync();
}
