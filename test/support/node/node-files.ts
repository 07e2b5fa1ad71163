import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiAccess, ApiProbe } from '../control-plane/api-probe.ts';
import { CertificateAuthority, type IssuedCertificate } from '../control-plane/certificates.ts';
import { adminKubeconfig } from '../control-plane/kubeconfig.ts';
import { CNI_DIRECTORY } from './node-programs.ts';

export const NODE_NAME = 'node1';
/** Of the node, in a network of its own: any number of nodes may have it. */
export const NODE_IP = '10.89.0.2';
export const SERVICE_RANGE = '10.0.0.0/24';
const API_SERVICE_IP = '10.0.0.1';
export const POD_RANGE = '10.88.0.0/24';
export const API_PORT = 6443;
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const PAUSE_IMAGE = 'localhost/pause:3.10';
export const PROXY_HEALTH = '127.0.0.1:10256';
export const DNS_READY = '127.0.0.1:8181';

/** Parts of the control plane and the node, each with its name as a client of the API server. */
const CLIENTS = {
  'kube-controller-manager': '/CN=system:kube-controller-manager',
  'kube-scheduler': '/CN=system:kube-scheduler',
  'kube-proxy': '/CN=system:kube-proxy',
  coredns: '/O=system:masters/CN=coredns',
} as const;

/** What the programs of a node are started with; all paths lie in its directory. */
export interface NodeFiles {
  readonly directory: string;
  readonly caFile: string;
  readonly serviceAccountKeyFile: string;
  readonly apiserver: IssuedCertificate;
  /** Access as administrator from outside of the node. */
  readonly access: ApiAccess;
  readonly probe: ApiProbe;
  /** For {@link access}. */
  readonly kubeconfigPath: string;
}

/** Where the content of each kind lies in the directory of a node. */
export const PLACES = ['pki', 'conf', 'cni', 'log', 'kubelet', 'containerd', 'manifests'] as const;

/** @param port where the API server is reached from outside */
export async function writeNodeFiles(
  directory: string,
  port: number,
  cgroup: string,
  signal: AbortSignal,
): Promise<NodeFiles> {
  for (const place of PLACES) await mkdir(join(directory, place), { recursive: true });
  const pki = join(directory, 'pki');
  const authority = await CertificateAuthority.create(pki, signal);
  const usage = 'extendedKeyUsage=serverAuth,clientAuth';
  const serverNames = [
    ...['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map(
      (name) => `DNS:${name}`,
    ),
    ...['127.0.0.1', API_SERVICE_IP, NODE_IP].map((address) => `IP:${address}`),
  ].join(',');
  const apiserver = await authority.issue({
    name: 'apiserver',
    subject: '/CN=kube-apiserver',
    extensions: [usage, `subjectAltName=${serverNames}`],
  });
  const admin = await authority.issue({
    name: 'admin',
    subject: '/O=system:masters/CN=admin',
    extensions: [usage],
  });
  const kubelet = await authority.issue({
    name: 'kubelet',
    subject: `/O=system:nodes/CN=system:node:${NODE_NAME}`,
    extensions: [usage, `subjectAltName=DNS:${NODE_NAME},IP:${NODE_IP}`],
  });
  const { caFile } = authority;
  const writeKubeconfig = async (name: string, certificate: IssuedCertificate): Promise<void> => {
    const serverUrl = `https://${NODE_IP}:${API_PORT}`;
    const content = adminKubeconfig({ serverUrl, caFile, ...certificate });
    await writeFile(join(directory, 'conf', `${name}.kubeconfig`), content, { mode: 0o600 });
  };
  await writeKubeconfig('kubelet', kubelet);
  for (const [name, subject] of Object.entries(CLIENTS)) {
    await writeKubeconfig(name, await authority.issue({ name, subject, extensions: [usage] }));
  }
  const configuration = {
    'kubelet.yaml': JSON.stringify(kubeletConfiguration(directory, kubelet, caFile, cgroup)),
    'kube-proxy.yaml': JSON.stringify(proxyConfiguration(directory)),
    'containerd.toml': containerdConfiguration(directory),
    Corefile: corefile(directory),
    'resolv.conf': 'options ndots:5\n',
    'audit.yaml': JSON.stringify(AUDIT_POLICY),
  };
  for (const [name, content] of Object.entries(configuration)) {
    await writeFile(join(directory, 'conf', name), content);
  }
  await writeFile(join(directory, 'cni/10-bridge.conflist'), JSON.stringify(NETWORK));
  const access: ApiAccess = { serverUrl: `https://127.0.0.1:${port}`, caFile, ...admin };
  const kubeconfigPath = join(directory, 'kubeconfig');
  await writeFile(kubeconfigPath, adminKubeconfig(access), { mode: 0o600 });
  const serviceAccountKeyFile = await authority.createServiceAccountKey();
  const probe = new ApiProbe(access);
  return { directory, caFile, serviceAccountKeyFile, apiserver, access, probe, kubeconfigPath };
}

function kubeletConfiguration(
  directory: string,
  certificate: IssuedCertificate,
  caFile: string,
  cgroup: string,
): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_IP,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: caFile },
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
    clusterDNS: [NODE_IP],
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

/** What pods were allowed and denied; the controllers of the control plane have service accounts too. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', userGroups: ['system:serviceaccounts:kube-system'] },
    { level: 'Metadata', userGroups: ['system:serviceaccounts'] },
    { level: 'None' },
  ],
};

function proxyConfiguration(directory: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: join(directory, 'conf/kube-proxy.kubeconfig') },
    mode: 'iptables',
    hostnameOverride: NODE_NAME,
    clusterCIDR: POD_RANGE,
    // A network namespace may not change these settings of the kernel; zero leaves them as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    healthzBindAddress: PROXY_HEALTH,
  };
}

const NETWORK = {
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
        ranges: [[{ subnet: POD_RANGE }]],
        routes: [{ dst: '0.0.0.0/0' }],
        // Addresses of pods are free again after a power cut.
        dataDir: '/run/cni',
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

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

/** Without records of pods, as many clusters have it. */
function corefile(directory: string): string {
  return `.:53 {
  errors
  ready ${DNS_READY}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${join(directory, 'conf/coredns.kubeconfig')}
    ttl 5
  }
  cache 5
}
`;
}
