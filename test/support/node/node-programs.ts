import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { isPresent, KUBERNETES_VERSION, NODE_PROGRAMS } from '../control-plane/go-programs.ts';
import {
  type ControlPlanePrograms,
  ensureBuilt,
  type FindOptions,
  findControlPlane,
} from '../control-plane/programs.ts';

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
  const packages = new Set<string>();
  for (const [program, name] of Object.entries(SYSTEM_PROGRAMS)) {
    if (!(await isInPath(program, env))) packages.add(name);
  }
  if (!(await isPresent(join(CNI_DIRECTORY, 'bridge')))) packages.add('containernetworking-plugins');
  if (packages.size > 0) return `apt-get install --no-install-recommends ${[...packages].join(' ')}`;
  if (!(await isPresent('/sys/fs/cgroup/memory'))) {
    return 'cgroup v1 is not mounted at /sys/fs/cgroup: a node was only tried with it';
  }
  return undefined;
}

async function isInPath(program: string, env: FindOptions['env']): Promise<boolean> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    try {
      await access(join(directory, program), constants.X_OK);
      return true;
    } catch {
      // In the next one.
    }
  }
  return false;
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
