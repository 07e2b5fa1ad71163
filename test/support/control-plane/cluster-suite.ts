import { beforeAll, describe, inject, type TestOptions } from 'vitest';
import { FURTHER_HELM_TAG } from '../api-independent.ts';
import { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import type { Cluster, ClusterState } from './global-setup.ts';
import { GATE_HELM_VERSIONS, HELM_VERSIONS, type HelmVersion } from './programs.ts';
import { sharedPlane } from './shared-planes.ts';

/**
 * A group of tests that need the control plane of their worker; they make their own namespaces. Without a control
 * plane the tests are skipped, and counted; with `REQUIRE_CLUSTER=1` that is a failure. `suite` is called in either
 * case, so it may use `cluster()` inside tests and hooks only.
 */
export function describeCluster(
  name: string,
  suite: (cluster: () => Cluster) => void,
  options: TestOptions = {},
): void {
  const state = inject('clusterState');
  if (state.type === 'unavailable' && isClusterRequired()) {
    throw new Error(`REQUIRE_CLUSTER=1, but there is no control plane: ${state.reason}`);
  }
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe.skipIf(state.type === 'unavailable')(name, options, () => {
    let cluster: Cluster | undefined;
    beforeAll(async () => {
      cluster = await clusterOfWorker(state);
    });
    suite(() => {
      if (cluster === undefined) throw new Error('cluster() is for tests and hooks');
      return cluster;
    });
  });
}

/**
 * A group of tests for each version of helm. The oldest and the newest run in the gate, and with `inGate` all do: the
 * product treats every helm 3 from 3.17 on alike.
 */
export function describeEachHelm(
  suite: (version: HelmVersion) => void,
  inGate = GATE_HELM_VERSIONS,
  versions: readonly HelmVersion[] = HELM_VERSIONS,
): void {
  for (const version of versions) {
    const options = inGate.includes(version) ? {} : { tags: [FURTHER_HELM_TAG] };
    // oxlint-disable-next-line vitest/valid-title -- the version makes it a title
    describe(`with helm ${version}`, options, () => {
      suite(version);
    });
  }
}

/** Whether this helm is there; a missing one is an error with `REQUIRE_CLUSTER=1`. For `test.skipIf`. */
export function lacksHelm(version: HelmVersion): boolean {
  const state = inject('clusterState');
  const isMissing = state.type === 'unavailable' || state.helm[version] === undefined;
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
  options: Pick<ControlPlaneOptions, 'apiserverFlags' | 'etcdFlags'> = {},
): Promise<ControlPlane> {
  return await ControlPlane.start(
    { programs: cluster.programs, ...options },
    AbortSignal.timeout(START_TIMEOUT_MS),
  );
}

async function clusterOfWorker(state: ClusterState): Promise<Cluster> {
  if (state.type === 'unavailable') throw new Error(state.reason);
  const { url, programs, helm } = state;
  // Counted from 1 to `maxWorkers` of the project; no two files run at the same time in workers of one number.
  const plane = await sharedPlane(url, Number(process.env['VITEST_POOL_ID']));
  return { ...plane, programs, helm };
}

const START_TIMEOUT_MS = 180_000;

function isClusterRequired(): boolean {
  return process.env['REQUIRE_CLUSTER'] === '1';
}
