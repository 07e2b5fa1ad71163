import { homedir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from '../../../src/tools/pinned-tools/cache-directory.ts';
import { isPresent, KUBERNETES_VERSION, NODE_PROGRAMS } from '../control-plane/go-programs.ts';
import {
  type ControlPlanePrograms,
  ensureBuilt,
  type FindOptions,
  findControlPlane,
} from '../control-plane/programs.ts';
import { missingPackages } from '../system-programs.ts';

export interface NodePrograms extends ControlPlanePrograms {
  readonly kubelet: string;
  readonly kubeScheduler: string;
  readonly kubeProxy: string;
  readonly coredns: string;
  /** Static, for an image that contains nothing else. */
  readonly pause: string;
}

/** Programs of the system, with the Debian package that brings each. */
const SYSTEM_PROGRAMS: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
  conntrack: 'conntrack',
  socat: 'socat',
  ip: 'iproute2',
  openssl: 'openssl',
  curl: 'curl',
  ps: 'procps',
  mount: 'mount',
  unshare: 'util-linux',
  nsenter: 'util-linux',
};
/** Where the package containernetworking-plugins has them. */
export const CNI_DIRECTORY = '/usr/lib/cni';

/** Why no node can run on this machine, or undefined. */
export async function reasonAgainstNode(env: FindOptions['env']): Promise<string | undefined> {
  if (process.platform !== 'linux') return `a node runs on Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'a node needs root, for namespaces and mounts';
  const packages = await missingPackages(SYSTEM_PROGRAMS, env);
  if (!(await isPresent(join(CNI_DIRECTORY, 'bridge')))) packages.push('containernetworking-plugins');
  if (packages.length > 0) return `apt-get install --no-install-recommends ${packages.join(' ')}`;
  if (!(await isPresent('/sys/fs/cgroup/memory'))) {
    return 'cgroup v1 is not mounted at /sys/fs/cgroup: a node was only tried with it';
  }
  return undefined;
}

/** The programs of a control plane and a node: cached, else built from Go modules. Throws when that does not work. */
export async function findNodePrograms(options: FindOptions, signal: AbortSignal): Promise<NodePrograms> {
  const controlPlane = await findControlPlane(options, signal);
  const directory = join(cacheDirectory(options.env, homedir()), `node-${KUBERNETES_VERSION}`);
  for (const program of NODE_PROGRAMS) {
    await ensureBuilt(program, join(directory, program.name), options, signal);
  }
  return {
    ...controlPlane,
    kubelet: join(directory, 'kubelet'),
    kubeScheduler: join(directory, 'kube-scheduler'),
    kubeProxy: join(directory, 'kube-proxy'),
    coredns: join(directory, 'coredns'),
    pause: join(directory, 'pause'),
  };
}
