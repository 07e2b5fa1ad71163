// Finds the cluster at start: a kubeconfig of the flags, the service account of the pod, KUBECONFIG,
// `~/.kube/config`, or a bare server, in this order. `kubeconfig-file.ts` resolves the contents; here is
// which file counts and what is refused in a pod. Credentials are only located here, `credentials.ts` reads
// them for each request.

import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { LocatedAccess } from './cluster-access.ts';
import {
  checkServerUrl,
  type KubeconfigFile,
  kubeconfigDocument,
  resolveKubeconfig,
} from './kubeconfig-file.ts';

/** Nothing names a cluster. */
export class NoClusterError extends OperatorError {
  constructor(message: string) {
    super('KUBE_CONFIG_INVALID', message);
  }
}

export interface KubeConfigOptions {
  /** `--kube-config`; must exist when given. */
  readonly kubeConfigPath?: string | undefined;
  /** `--kube-context`; default: the current one. */
  readonly kubeContext?: string | undefined;
  /** `--kube-server`: replaces the URL of the kubeconfig, or is used alone. */
  readonly kubeServer?: string | undefined;
  /** Environment: KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, ADDON_OPERATOR_KUBE_ALLOW_UNSAFE. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file as UTF-8; rejects with an error whose `code` is ENOENT if it does not exist. */
  readonly readFile: (path: string) => Promise<string>;
}

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';
const TOKEN_PATH = `${SERVICE_ACCOUNT_DIR}/token`;
const UNSAFE_VARIABLE = 'ADDON_OPERATOR_KUBE_ALLOW_UNSAFE';

/**
 * Finds out how to reach the API server: the given kubeconfig, else the service account of the pod (unless a context or
 * a server was requested), else the kubeconfigs of KUBECONFIG, which a pod may have for its hooks alone, else
 * `~/.kube/config`, else `--kube-server` alone.
 *
 * Inside a cluster (KUBERNETES_SERVICE_HOST is set) a kubeconfig that runs programs or skips TLS verification is
 * refused unless ADDON_OPERATOR_KUBE_ALLOW_UNSAFE is `true`.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID naming the file and the field; a {@link NoClusterError} if there is none
 */
export async function loadKubeConfig(options: KubeConfigOptions): Promise<LocatedAccess> {
  const { env, readFile } = options;
  const choice = {
    context: presence(options.kubeContext),
    server: presence(options.kubeServer),
  };
  const useFiles = (files: readonly KubeconfigFile[]): LocatedAccess =>
    refuseUnsafe(resolveKubeconfig(files, choice), env);

  const explicitPath = presence(options.kubeConfigPath);
  if (explicitPath !== undefined) {
    return useFiles([await requiredFile(explicitPath, '--kube-config', readFile)]);
  }

  const isInPod = presence(env['KUBERNETES_SERVICE_HOST']) !== undefined;
  const canBeInCluster = isInPod && choice.context === undefined && choice.server === undefined;
  if (canBeInCluster && (await existingFiles([TOKEN_PATH], readFile)).length > 0)
    return inClusterAccess(options);

  const listed = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  if (listed.length > 0) {
    const files = await existingFiles(listed, readFile);
    if (files.length > 0) return useFiles(files);
    throw invalid(`KUBECONFIG: ${listed.join(', ')} does not exist`);
  }

  // Throws an error that names what is missing in the pod.
  if (canBeInCluster) return inClusterAccess(options);

  const home = presence(env['HOME']);
  if (home !== undefined) {
    const files = await existingFiles([join(home, '.kube', 'config')], readFile);
    if (files.length > 0) return useFiles(files);
  }
  if (choice.server !== undefined && choice.context === undefined) return bareServer(choice.server);
  throw new NoClusterError(
    'Cannot use the Kubernetes configuration: no cluster found: set --kube-config (or KUBE_CONFIG, KUBECONFIG), or run in a pod with a service account',
  );
}

/** The name of every entry in a kubeconfig that is made here. */
const MAIN = 'main';

/** An API server without credentials, as `kubectl proxy` provides it. */
function bareServer(choice: string): LocatedAccess {
  const server = checkServerUrl(choice, '--kube-server');
  return {
    server,
    currentNamespace: 'default',
    source: '--kube-server',
    tls: { isVerified: true },
    identity: { type: 'anonymous' },
    kubeconfig: kubeconfigDocument({
      context: { name: MAIN, fields: { cluster: MAIN } },
      cluster: { name: MAIN, fields: { server } },
      user: undefined,
    }),
  };
}

/**
 * The service account of the pod. Its files are checked here, so that a missing mount is reported at start.
 */
async function inClusterAccess(options: KubeConfigOptions): Promise<LocatedAccess> {
  const { env, readFile } = options;
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = presence(env['KUBERNETES_SERVICE_PORT']) ?? '443';
  const caPath = `${SERVICE_ACCOUNT_DIR}/ca.crt`;
  await requiredFile(TOKEN_PATH, 'service account token (is automountServiceAccountToken off?)', readFile);
  await requiredFile(caPath, 'service account CA', readFile);
  const [namespace] = await existingFiles([`${SERVICE_ACCOUNT_DIR}/namespace`], readFile);
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const currentNamespace = presence(namespace?.text.trim()) ?? 'default';
  return {
    server,
    currentNamespace,
    source: 'in-cluster',
    tls: { isVerified: true, ca: { type: 'file', path: caPath } },
    identity: { type: 'token', token: { type: 'file', path: TOKEN_PATH } },
    // Files stay files, so that other programs see them rotate too.
    kubeconfig: kubeconfigDocument({
      context: { name: MAIN, fields: { cluster: MAIN, user: MAIN, namespace: currentNamespace } },
      cluster: { name: MAIN, fields: { server, 'certificate-authority': caPath } },
      user: { name: MAIN, fields: { tokenFile: TOKEN_PATH } },
    }),
  };
}

/** A kubeconfig in a pod may come from a values file; one that runs programs would let its author run them there. */
function refuseUnsafe(access: LocatedAccess, env: KubeConfigOptions['env']): LocatedAccess {
  const isInCluster = presence(env['KUBERNETES_SERVICE_HOST']) !== undefined;
  if (!isInCluster || env[UNSAFE_VARIABLE] === 'true') return access;
  const advice = `which is refused in a pod: use its service account, or set ${UNSAFE_VARIABLE}=true`;
  if (access.identity.type === 'plugin') {
    throw invalid(`${access.source}: the user has exec or auth-provider, ${advice}`);
  }
  if (!access.tls.isVerified) {
    throw invalid(`${access.source}: the cluster has insecure-skip-tls-verify, ${advice}`);
  }
  return access;
}

/** Reads a file that must exist; the error names the flag or the purpose. */
async function requiredFile(
  path: string,
  what: string,
  readFile: KubeConfigOptions['readFile'],
): Promise<KubeconfigFile> {
  try {
    return { path, text: await readFile(path) };
  } catch (error) {
    throw invalid(`${what}: ${path} ${isMissing(error) ? 'does not exist' : 'cannot be read'}`, error);
  }
}

/** Reads the files that exist; one that exists and cannot be read is an error. */
async function existingFiles(
  paths: readonly string[],
  readFile: KubeConfigOptions['readFile'],
): Promise<readonly KubeconfigFile[]> {
  const files: KubeconfigFile[] = [];
  for (const path of paths) {
    try {
      files.push({ path, text: await readFile(path) });
    } catch (error) {
      if (!isMissing(error)) throw invalid(`${path} cannot be read`, error);
    }
  }
  return files;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** An empty variable or flag counts as absent. */
function presence(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function invalid(problem: string, cause?: unknown): OperatorError {
  return new OperatorError('KUBE_CONFIG_INVALID', `Cannot use the Kubernetes configuration: ${problem}`, {
    cause,
  });
}
