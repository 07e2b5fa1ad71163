import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { type ApiAccess, ApiProbe } from '../control-plane/api-probe.ts';
import { CertificateAuthority, type IssuedCertificate } from '../control-plane/certificates.ts';
import { adminKubeconfig } from '../control-plane/kubeconfig.ts';
import { CERTIFICATE_USAGE, FIRST_NODE, inClusterKubeconfig, writeKubeletFiles } from './kubelet-files.ts';

export const SERVICE_RANGE = '10.0.0.0/24';
const API_SERVICE_IP = '10.0.0.1';
const API_HOSTS = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  '127.0.0.1',
  API_SERVICE_IP,
  FIRST_NODE.ip,
];
const DAY_MS = 86_400_000;
export const DNS_READY = '127.0.0.1:8181';

/** Parts of the control plane and cluster DNS, each with its name as a client of the API server. */
const CLIENTS = {
  'kube-controller-manager': '/CN=system:kube-controller-manager',
  'kube-scheduler': '/CN=system:kube-scheduler',
  coredns: '/O=system:masters/CN=coredns',
} as const;

/** What the programs of the first node are started with; all paths lie in its directory. */
export interface NodeFiles {
  readonly directory: string;
  readonly authority: CertificateAuthority;
  readonly serviceAccountKeyFile: string;
  readonly apiserver: IssuedCertificate;
  /** Access as administrator from outside of the node. */
  readonly access: ApiAccess;
  readonly probe: ApiProbe;
  /** For {@link access}. */
  readonly kubeconfigPath: string;
}

/** @param port where the API server is reached from outside */
export async function writeNodeFiles(
  directory: string,
  port: number,
  cgroup: string,
  signal: AbortSignal,
): Promise<NodeFiles> {
  const pki = join(directory, 'pki');
  await mkdir(pki);
  const nowMs = systemClock.wallMs();
  // A pod whose clock is behind reaches the API server too: it is there longer than the clock is wrong.
  const validity = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + 30 * DAY_MS };
  const authority = await CertificateAuthority.createValid(pki, validity, signal);
  await writeKubeletFiles({ node: FIRST_NODE, directory, cgroup, authority });
  const apiserver = await authority.issueServer('kube-apiserver', API_HOSTS, validity);
  const admin = await authority.issue({
    name: 'admin',
    subject: '/O=system:masters/CN=admin',
    extensions: [CERTIFICATE_USAGE],
  });
  const write = async (name: string, content: string): Promise<void> =>
    await writeFile(join(directory, 'conf', name), content, { mode: 0o600 });
  for (const [name, subject] of Object.entries(CLIENTS)) {
    const client = await authority.issue({ name, subject, extensions: [CERTIFICATE_USAGE] });
    await write(`${name}.kubeconfig`, inClusterKubeconfig(authority, client));
  }
  await write('Corefile', corefile(directory));
  await write('audit.yaml', JSON.stringify(AUDIT_POLICY));
  const access: ApiAccess = { serverUrl: `https://127.0.0.1:${port}`, caFile: authority.caFile, ...admin };
  const kubeconfigPath = join(directory, 'kubeconfig');
  await writeFile(kubeconfigPath, adminKubeconfig(access), { mode: 0o600 });
  const serviceAccountKeyFile = await authority.createServiceAccountKey();
  const probe = new ApiProbe(access);
  return { directory, authority, serviceAccountKeyFile, apiserver, access, probe, kubeconfigPath };
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
