import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { helmPath } from './cluster-suite.ts';
import type { Cluster } from './global-setup.ts';
import type { HELM_VERSIONS } from './programs.ts';

/** The chart of the operator itself. */
export const CHART = join(import.meta.dirname, '../../../deploy/addon-operator');

/** The only value that it cannot do without. */
export const IMAGE = ['--set', 'image.repository=registry.example.com/operator'];

/** The part of a Deployment that sets the variables of its container. */
export interface DeploymentObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly env: readonly Variable[] }[] };
    };
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** Runs a version of helm on the cluster, with directories of its own. */
export function helmOf(cluster: Cluster, version: (typeof HELM_VERSIONS)[number]) {
  return async (...args: readonly string[]) => {
    const home = await mkdtemp(join(tmpdir(), 'helm-home-'));
    const env = {
      KUBECONFIG: cluster.kubeconfigPath,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
    };
    return await execa(helmPath(cluster, version), args, { env, stdin: 'ignore' });
  };
}
