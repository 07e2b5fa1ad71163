import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import type { ClusterAccess, Material } from '@addon-operator/kube-client/cluster-access';

/** Where helm finds the cluster: a kubeconfig and the context in it, empty for its current one. */
interface HelmKubeconfig {
  readonly path: string;
  readonly context: string;
}

interface HelmKubeconfigOptions {
  readonly access: ClusterAccess;
  /** The kubeconfig the user named, if the access is just what it says. */
  readonly givenPath: string | undefined;
  readonly context: string;
  /** Private directory of the daemon. */
  readonly directory: string;
}

/**
 * A kubeconfig that leads helm to the cluster the daemon uses: the user's own file where there is one, else one written
 * into the daemon's private directory. Tokens and keys in files stay there, so helm sees them rotate.
 *
 * @throws OperatorError KUBE_CONFIG_INVALID when the credentials come from a plug-in and no single file names it
 */
export function helmKubeconfig(options: HelmKubeconfigOptions): HelmKubeconfig {
  const { access, givenPath, context, directory } = options;
  if (givenPath !== undefined) return { path: givenPath, context };
  const text = JSON.stringify(document(access));
  // Daemons for other clusters may share the directory, and their helm must not follow ours.
  const path = join(directory, `kubeconfig-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
  return { path, context: '' };
}

function document(access: ClusterAccess): object {
  const { tls, server, currentNamespace } = access;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'main', namespace: currentNamespace } }],
    clusters: [
      {
        name: 'main',
        cluster: {
          server,
          ...(tls.isVerified ? {} : { 'insecure-skip-tls-verify': true }),
          ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
          ...material('certificate-authority', 'certificate-authority-data', tls.ca),
        },
      },
    ],
    users: [
      {
        name: 'main',
        user: {
          ...material('client-certificate', 'client-certificate-data', tls.client?.cert),
          ...material('client-key', 'client-key-data', tls.client?.key),
          ...credentials(access),
        },
      },
    ],
  };
}

function material(fileKey: string, dataKey: string, source: Material | undefined): object {
  if (source === undefined) return {};
  return source.type === 'file'
    ? { [fileKey]: source.path }
    : { [dataKey]: Buffer.from(source.text).toString('base64') };
}

function credentials({ identity, source }: ClusterAccess): object {
  switch (identity.type) {
    case 'anonymous':
      return {};
    case 'token':
      return identity.token.type === 'file'
        ? { tokenFile: identity.token.path }
        : { token: identity.token.text };
    case 'basic':
      return { username: identity.username, password: identity.password };
    case 'plugin':
      throw new OperatorError(
        'KUBE_CONFIG_INVALID',
        `helm cannot use the plug-in of user "${identity.user.name}" (${source}) with --kube-server or several files in KUBECONFIG: set one kubeconfig with --kube-config`,
      );
  }
}
