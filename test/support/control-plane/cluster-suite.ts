import { describe, inject } from 'vitest';
import { ControlPlane } from './control-plane.ts';
import type { Cluster } from './global-setup.ts';
import type { HelmVersion } from './programs.ts';

/**
 * A group of tests that need the control plane shared by the run; they make their own namespaces. Without a control
 * plane the tests are skipped, and counted; with `REQUIRE_CLUSTER=1` that is a failure. `suite` is called in either
 * case, so it may use `cluster()` inside tests and hooks only.
 */
export function describeCluster(name: string, suite: (cluster: () => Cluster) => void): void {
  const state = inject('clusterState');
  if (state.type === 'unavailable' && isClusterRequired()) {
    throw new Error(`REQUIRE_CLUSTER=1, but there is no control plane: ${state.reason}`);
  }
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe.skipIf(state.type === 'unavailable')(name, () => {
    suite(() => {
      if (state.type === 'unavailable') throw new Error(state.reason);
      return state.cluster;
    });
  });
}

/** Whether this helm is there; a missing one is an error with `REQUIRE_CLUSTER=1`. For `test.skipIf`. */
export function lacksHelm(version: HelmVersion): boolean {
  const state = inject('clusterState');
  const isMissing = state.type === 'unavailable' || state.cluster.helm[version] === undefined;
  if (isMissing && isClusterRequired()) throw new Error(`REQUIRE_CLUSTER=1, but there is no helm ${version}`);
  return isMissing;
}

/** Path of a helm executable that {@link lacksHelm} found present. */
export function helmPath(cluster: Cluster, version: HelmVersion): string {
  const path = cluster.helm[version];
  if (path === undefined) throw new Error(`There is no helm ${version}`);
  return path;
}

/** A control plane of one's own, for tests that break it (about 3 s). The caller stops it. */
export async function startControlPlane(
  cluster: Cluster,
  options: { readonly apiserverFlags?: readonly string[] } = {},
): Promise<ControlPlane> {
  return await ControlPlane.start(
    { programs: cluster.programs, ...options },
    AbortSignal.timeout(START_TIMEOUT_MS),
  );
}

const START_TIMEOUT_MS = 180_000;

function isClusterRequired(): boolean {
  return process.env['REQUIRE_CLUSTER'] === '1';
}
