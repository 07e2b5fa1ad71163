import { join } from 'node:path';
import { API_PORT, FIRST_NODE, type NodeIdentity } from './kubelet-files.ts';
import { type NodeFiles, SERVICE_RANGE } from './node-files.ts';
import type { NodePrograms } from './node-programs.ts';

/** A program with its arguments. */
export type Command = readonly [file: string, ...args: string[]];

/** Of every node. */
export const KUBELET_SERVICES = ['containerd', 'kubelet', 'kube-proxy'] as const;
export type KubeletService = (typeof KUBELET_SERVICES)[number];

/** Of the first node, which runs the control plane too. */
export const SERVICE_NAMES = [
  'containerd',
  'etcd',
  'kube-apiserver',
  'api-socket',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'coredns',
] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The programs that make a node; all run inside of its namespaces. */
export function kubeletCommands(
  node: NodeIdentity,
  directory: string,
  programs: NodePrograms,
): Readonly<Record<KubeletService, Command>> {
  const conf = (name: string): string => join(directory, 'conf', name);
  return {
    containerd: ['containerd', '--config', conf('containerd.toml')],
    kubelet: [
      programs.kubelet,
      `--config=${conf('kubelet.yaml')}`,
      `--kubeconfig=${conf('kubelet.kubeconfig')}`,
      `--hostname-override=${node.name}`,
      `--node-ip=${node.ip}`,
      '--root-dir=/var/lib/kubelet',
    ],
    'kube-proxy': [programs.kubeProxy, `--config=${conf('kube-proxy.yaml')}`],
  };
}

/** The programs of the first node. */
export function serviceCommands(
  files: NodeFiles,
  programs: NodePrograms,
): Readonly<Record<ServiceName, Command>> {
  const conf = (name: string): string => join(files.directory, 'conf', name);
  const kubeconfigFlags = (name: ServiceName): string[] =>
    ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
      (flag) => `--${flag}=${conf(`${name}.kubeconfig`)}`,
    );
  const alone = ['--leader-elect=false', '--secure-port=0', '--kube-api-qps=200', '--kube-api-burst=400'];
  return {
    ...kubeletCommands(FIRST_NODE, files.directory, programs),
    etcd: [
      programs.etcd,
      `--data-dir=${join(files.directory, 'etcd')}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
      '--listen-client-urls=http://127.0.0.1:2379',
      '--advertise-client-urls=http://127.0.0.1:2379',
      '--listen-peer-urls=http://127.0.0.1:2380',
    ],
    'kube-apiserver': [
      programs.kubeApiserver,
      '--etcd-servers=http://127.0.0.1:2379',
      '--bind-address=0.0.0.0',
      `--advertise-address=${FIRST_NODE.ip}`,
      `--secure-port=${API_PORT}`,
      `--client-ca-file=${files.authority.caFile}`,
      `--tls-cert-file=${files.apiserver.certFile}`,
      `--tls-private-key-file=${files.apiserver.keyFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${files.serviceAccountKeyFile}`,
      `--service-account-signing-key-file=${files.serviceAccountKeyFile}`,
      `--service-cluster-ip-range=${SERVICE_RANGE}`,
      `--kubelet-client-certificate=${files.access.certFile}`,
      `--kubelet-client-key=${files.access.keyFile}`,
      `--kubelet-certificate-authority=${files.authority.caFile}`,
      '--kubelet-preferred-address-types=InternalIP',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      `--audit-policy-file=${conf('audit.yaml')}`,
      `--audit-log-path=${auditLog(files.directory)}`,
    ],
    'api-socket': [
      'socat',
      `UNIX-LISTEN:${apiSocket(files.directory)},fork,unlink-early,backlog=256`,
      `TCP:127.0.0.1:${API_PORT}`,
    ],
    'kube-controller-manager': [
      programs.kubeControllerManager,
      ...kubeconfigFlags('kube-controller-manager'),
      ...alone,
      '--use-service-account-credentials',
      `--service-account-private-key-file=${files.serviceAccountKeyFile}`,
      `--root-ca-file=${files.authority.caFile}`,
    ],
    'kube-scheduler': [programs.kubeScheduler, ...kubeconfigFlags('kube-scheduler'), ...alone],
    coredns: [programs.coredns, '-conf', conf('Corefile')],
  };
}

/** One line of JSON for each request of a service account in a pod. */
export function auditLog(directory: string): string {
  return join(directory, 'audit.log');
}

/** Where the API server of a node is reached from outside of its network. */
export function apiSocket(directory: string): string {
  return join(directory, 'api.sock');
}
