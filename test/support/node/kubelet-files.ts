import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateAuthority, IssuedCertificate } from '../control-plane/certificates.ts';
import { adminKubeconfig } from '../control-plane/kubeconfig.ts';
import { CNI_DIRECTORY } from './node-programs.ts';

/** A node of a cluster. All clusters use the same names and addresses: each is in a network of its own. */
export interface NodeIdentity {
  readonly name: string;
  readonly ip: string;
  /** Addresses of its pods. */
  readonly podRange: string;
}

/** It runs the control plane too. */
export const FIRST_NODE: NodeIdentity = { name: 'node1', ip: '10.89.0.2', podRange: '10.88.0.0/24' };
export const SECOND_NODE: NodeIdentity = { name: 'node2', ip: '10.89.0.3', podRange: '10.88.1.0/24' };
/** Pods of all nodes. */
const POD_RANGE = '10.88.0.0/16';
export const API_PORT = 6443;
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const PAUSE_IMAGE = 'localhost/pause:3.10';
export const PROXY_HEALTH = '127.0.0.1:10256';
/** Of certificates for servers and clients. */
export const CERTIFICATE_USAGE = 'extendedKeyUsage=serverAuth,clientAuth';

/** Where the content of each kind lies in the directory of a node. */
const PLACES = ['conf', 'cni', 'log', 'kubelet', 'containerd', 'manifests'] as const;

export interface KubeletFilesSpec {
  readonly node: NodeIdentity;
  /** Gets the files, and contains the data of kubelet and containerd. */
  readonly directory: string;
  /** Below it are the groups of all pods. */
  readonly cgroup: string;
  readonly authority: CertificateAuthority;
}

/** Writes what containerd, kubelet and kube-proxy of a node are started with. */
export async function writeKubeletFiles(spec: KubeletFilesSpec): Promise<void> {
  const { node, directory, authority } = spec;
  for (const place of PLACES) await mkdir(join(directory, place), { recursive: true });
  const kubelet = await authority.issue({
    name: `kubelet-${node.name}`,
    subject: `/O=system:nodes/CN=system:node:${node.name}`,
    extensions: [CERTIFICATE_USAGE, `subjectAltName=DNS:${node.name},IP:${node.ip}`],
  });
  const proxy = await authority.issue({
    name: `kube-proxy-${node.name}`,
    subject: '/CN=system:kube-proxy',
    extensions: [CERTIFICATE_USAGE],
  });
  const configuration = {
    'kubelet.yaml': JSON.stringify(kubeletConfiguration(spec, kubelet)),
    'kubelet.kubeconfig': inClusterKubeconfig(authority, kubelet),
    'kube-proxy.yaml': JSON.stringify(proxyConfiguration(spec)),
    'kube-proxy.kubeconfig': inClusterKubeconfig(authority, proxy),
    'containerd.toml': containerdConfiguration(directory),
    'resolv.conf': 'options ndots:5\n',
  };
  for (const [name, content] of Object.entries(configuration)) {
    await writeFile(join(directory, 'conf', name), content, { mode: 0o600 });
  }
  await writeFile(join(directory, 'cni/10-bridge.conflist'), JSON.stringify(networkOf(node)));
}

/** For a program that runs on a node. */
export function inClusterKubeconfig({ caFile }: CertificateAuthority, client: IssuedCertificate): string {
  return adminKubeconfig({ serverUrl: `https://${FIRST_NODE.ip}:${API_PORT}`, caFile, ...client });
}

function kubeletConfiguration(
  { node, directory, cgroup, authority }: KubeletFilesSpec,
  certificate: IssuedCertificate,
): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: node.ip,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority.caFile },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: certificate.certFile,
    tlsPrivateKeyFile: certificate.keyFile,
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: ['pods'],
    staticPodPath: join(directory, 'manifests'),
    podLogsDir: '/var/log/pods',
    clusterDomain: 'cluster.local',
    clusterDNS: [FIRST_NODE.ip],
    resolvConf: join(directory, 'conf/resolv.conf'),
    // Images are loaded, and cannot be pulled again.
    imageGCHighThresholdPercent: 100,
    // The disk and the memory are those of the machine, which others use as well.
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    nodeStatusUpdateFrequency: '5s',
  };
}

function proxyConfiguration({ node, directory }: KubeletFilesSpec): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: join(directory, 'conf/kube-proxy.kubeconfig') },
    mode: 'iptables',
    hostnameOverride: node.name,
    clusterCIDR: POD_RANGE,
    // A network namespace may not change these settings of the kernel; zero leaves them as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: PROXY_HEALTH,
  };
}

function networkOf({ podRange }: NodeIdentity): object {
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet: podRange }]],
          routes: [{ dst: '0.0.0.0/0' }],
          // Addresses of pods are free again after a power cut.
          dataDir: '/run/cni',
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function containerdConfiguration(directory: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${join(directory, 'containerd')}"
state = "/run/containerd"

[grpc]
address = "${CONTAINERD_SOCKET}"

[${cri}]
sandbox_image = "${PAUSE_IMAGE}"
disable_apparmor = true
# Only CAP_SYS_RESOURCE may lower the score of a process for the OOM killer.
restrict_oom_score_adj = true

[${cri}.cni]
bin_dir = "${CNI_DIRECTORY}"
conf_dir = "${join(directory, 'cni')}"

[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}
