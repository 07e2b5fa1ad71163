import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ClusterAccess } from '@addon-operator/kube-client/cluster-access';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { helmKubeconfig } from './helm-kubeconfig.ts';

const ACCESS: ClusterAccess = {
  server: 'https://api:6443',
  currentNamespace: 'ops',
  source: 'in-cluster',
  tls: { isVerified: true },
  identity: { type: 'anonymous' },
};

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'helm-kubeconfig-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function written(access: Partial<ClusterAccess>): {
  readonly clusters: readonly { readonly cluster: unknown }[];
  readonly users: readonly { readonly user: unknown }[];
  readonly [key: string]: unknown;
} {
  const { path } = helmKubeconfig({
    access: { ...ACCESS, ...access },
    givenPath: undefined,
    context: 'ignored',
    directory: join(root, 'helm'),
  });
  return JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof written>;
}

test('helm gets the kubeconfig that the user named, with its context', () => {
  const given = { access: ACCESS, givenPath: '/home/u/.kube/config', context: 'prod', directory: root };
  expect(helmKubeconfig(given)).toEqual({ path: '/home/u/.kube/config', context: 'prod' });
});

test('without one a kubeconfig is written for the user of the daemon alone', () => {
  const directory = join(root, 'helm');
  const { path, context } = helmKubeconfig({ access: ACCESS, givenPath: undefined, context: '', directory });
  expect([dirname(path), context]).toEqual([directory, '']);
  expect([statSync(directory).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test('daemons for two clusters that share a directory do not write over each other', () => {
  const pathFor = (server: string): string =>
    helmKubeconfig({ access: { ...ACCESS, server }, givenPath: undefined, context: '', directory: root })
      .path;
  const ours = pathFor('https://ours:6443');
  pathFor('https://theirs:6443');
  expect(readFileSync(ours, 'utf8')).toContain('https://ours:6443');
  expect(pathFor('https://ours:6443')).toBe(ours);
});

test('it names server, namespace and how the server is verified', () => {
  expect(written({})).toMatchObject({
    'current-context': 'main',
    contexts: [{ context: { namespace: 'ops' } }],
    clusters: [{ cluster: { server: 'https://api:6443' } }],
  });
  const ca = { type: 'text', text: 'PEM' } as const;
  expect(written({ tls: { isVerified: true, serverName: 'kube', ca } }).clusters[0]?.cluster).toEqual({
    server: 'https://api:6443',
    'tls-server-name': 'kube',
    'certificate-authority-data': Buffer.from('PEM').toString('base64'),
  });
  expect(written({ tls: { isVerified: false } }).clusters[0]?.cluster).toHaveProperty(
    'insecure-skip-tls-verify',
    true,
  );
});

test('files stay files, so that helm sees them rotate', () => {
  const file = (path: string) => ({ type: 'file', path }) as const;
  const { clusters, users } = written({
    tls: { isVerified: true, ca: file('/ca'), client: { cert: file('/cert'), key: file('/key') } },
    identity: { type: 'token', token: file('/token') },
  });
  expect(clusters[0]?.cluster).toHaveProperty('certificate-authority', '/ca');
  expect(users[0]?.user).toEqual({
    'client-certificate': '/cert',
    'client-key': '/key',
    tokenFile: '/token',
  });
});

test.each([
  [{ type: 'anonymous' }, {}],
  [{ type: 'token', token: { type: 'text', text: 't' } }, { token: 't' }],
  [
    { type: 'basic', username: 'u', password: 'p' },
    { username: 'u', password: 'p' },
  ],
] as const)('credentials are handed on: %j', (identity, user) => {
  expect(written({ identity }).users[0]?.user).toEqual(user);
});

test('a plug-in cannot be handed on, and the message says what to do', () => {
  const identity = { type: 'plugin', user: { name: 'sso' } } as const;
  expect(() => written({ identity })).toThrow(/plug-in of user "sso".*--kube-config/);
});
