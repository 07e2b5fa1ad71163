import { hasCode } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import type { ClusterAccess } from './cluster-access.ts';
import { type KubeConfigOptions, loadKubeConfig } from './kube-config.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A file system of texts. */
function files(texts: Readonly<Record<string, string>>): KubeConfigOptions['readFile'] {
  return async (path) => {
    const text = texts[path];
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
}

function kubeconfig(user: string, cluster = 'server: https://a:6443'): string {
  return `
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u, namespace: web}}
- {name: other, context: {cluster: c}}
clusters:
- name: c
  cluster: {${cluster}}
users:
- name: u
  user: {${user}}
`;
}

function load(user: string, cluster?: string): Promise<ClusterAccess> {
  return loadKubeConfig({
    kubeConfigPath: '/etc/kc/config',
    env: {},
    readFile: files({ '/etc/kc/config': kubeconfig(user, cluster) }),
  });
}

test('loadKubeConfig() reads server, namespace, CA and certificate data', async () => {
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const access = await load(
    `client-certificate-data: ${data('CERT')}, client-key-data: ${data('KEY')}`,
    `server: 'https://a:6443/', certificate-authority-data: ${data('CA')}, tls-server-name: api.local`,
  );
  expect(access).toEqual({
    server: 'https://a:6443',
    currentNamespace: 'web',
    source: '/etc/kc/config',
    tls: {
      isVerified: true,
      serverName: 'api.local',
      ca: { type: 'text', text: 'CA' },
      client: { cert: { type: 'text', text: 'CERT' }, key: { type: 'text', text: 'KEY' } },
    },
    identity: { type: 'anonymous' },
    kubeconfig: { type: 'file', path: '/etc/kc/config' },
  });
});

test('loadKubeConfig() resolves relative paths against the folder of the kubeconfig', async () => {
  const access = await load(
    'client-certificate: pki/a.crt, client-key: /abs/a.key, tokenFile: ../token',
    'server: https://a, certificate-authority: ca.crt',
  );
  expect(access.tls.ca).toEqual({ type: 'file', path: '/etc/kc/ca.crt' });
  expect(access.tls.client).toEqual({
    cert: { type: 'file', path: '/etc/kc/pki/a.crt' },
    key: { type: 'file', path: '/abs/a.key' },
  });
  expect(access.identity).toEqual({ type: 'token', token: { type: 'file', path: '/etc/token' } });
});

test.each([
  ['token: t', { type: 'token', token: { type: 'text', text: 't' } }],
  ['token: t, tokenFile: /f', { type: 'token', token: { type: 'file', path: '/f' } }],
  ['username: joe, password: s', { type: 'basic', username: 'joe', password: 's' }],
  ['', { type: 'anonymous' }],
  ['exec: {command: aws}', { type: 'plugin', user: { name: 'u', exec: { command: 'aws' } } }],
  [
    'exec: {command: ./bin/login}',
    { type: 'plugin', user: { name: 'u', exec: { command: '/etc/kc/bin/login' } } },
  ],
  ['auth-provider: {name: oidc}', { type: 'plugin', user: { name: 'u', authProvider: { name: 'oidc' } } }],
])('loadKubeConfig() takes the user {%s}', async (user, identity) => {
  expect((await load(user)).identity).toEqual(identity);
});

test('loadKubeConfig() takes a plain http server without a user', async () => {
  const text =
    'current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: "http://127.0.0.1:8001"}}]';
  const access = await loadKubeConfig({ kubeConfigPath: 'kc', env: {}, readFile: files({ kc: text }) });
  expect(access).toMatchObject({
    server: 'http://127.0.0.1:8001',
    currentNamespace: 'default',
    identity: { type: 'anonymous' },
  });
});

test.each([
  ['a: [', 'it is not YAML'],
  ['[]', 'it is not a mapping'],
  ['clusters: []', 'current-context is missing'],
  ['current-context: a', 'contexts has no entry named "a"'],
  ['current-context: a\ncontexts: {}', 'contexts is not a list'],
  ['current-context: a\ncontexts: [{context: {}}]', 'contexts[0].name is missing'],
  ['current-context: a\ncontexts: [{name: a, context: {}}]', 'contexts[0].context.cluster is missing'],
  [
    'current-context: a\ncontexts: [{name: a, context: {cluster: c}}]',
    'contexts[0].context.cluster names the unknown cluster "c"',
  ],
  [kubeconfig('', ''), 'clusters[0].cluster.server is missing'],
  [kubeconfig('', 'server: "ftp://x y"'), 'clusters[0].cluster.server'],
  [kubeconfig('token: 5'), 'users[0].user.token is not a string'],
  [
    kubeconfig('client-key-data: "***", client-certificate-data: YQ=='),
    'users[0].user.client-key-data is not base64',
  ],
  [kubeconfig('client-key-data: YQ=='), 'users[0].user.client-certificate is missing'],
  [
    kubeconfig('', 'server: https://a, insecure-skip-tls-verify: "yes"'),
    'insecure-skip-tls-verify is not true or false',
  ],
  [kubeconfig('exec: {}'), 'users[0].user.exec.command is missing'],
])('loadKubeConfig() refuses %j and names the field', async (text, problem) => {
  const loading = loadKubeConfig({ kubeConfigPath: '/kc', env: {}, readFile: files({ '/kc': text }) });
  const error: unknown = await loading.catch((error: unknown) => error);
  expect(hasCode(error, 'KUBE_CONFIG_INVALID')).toBe(true);
  expect(String(error)).toContain('/kc');
  expect(String(error)).toContain(problem);
});

test('loadKubeConfig() skips a byte order mark, and names a tab as indentation', async () => {
  const load = (text: string): Promise<ClusterAccess> =>
    loadKubeConfig({ kubeConfigPath: '/kc', env: {}, readFile: files({ '/kc': text }) });
  expect(await load(`\u{FEFF}${kubeconfig('')}`)).toMatchObject({ server: 'https://a:6443' });
  await expect(load('clusters:\n\t- name: c\n')).rejects.toThrow(
    '/kc: it is not YAML: tab characters must not be used in indentation: write spaces in line 2',
  );
});

test('loadKubeConfig() shows nothing of the text of a broken kubeconfig', async () => {
  const loading = load('token: "canary\n- [');
  await expect(loading).rejects.toThrow(/in line \d+/);
  await expect(loading).rejects.not.toThrow(/canary/);
});

const everywhere = {
  '/explicit': kubeconfig('', 'server: https://explicit'),
  '/listed': kubeconfig('', 'server: https://listed'),
  '/home/joe/.kube/config': kubeconfig('', 'server: https://home'),
  [`${ACCOUNT}/token`]: 't',
  [`${ACCOUNT}/ca.crt`]: 'CA',
  [`${ACCOUNT}/namespace`]: 'operators\n',
};
const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };

test.each<[string, Omit<KubeConfigOptions, 'readFile'>, string]>([
  [
    'the explicit path first',
    { kubeConfigPath: '/explicit', env: { KUBECONFIG: '/listed', ...pod } },
    'https://explicit',
  ],
  [
    'then the service account of the pod',
    { kubeConfigPath: '', env: { KUBECONFIG: '/none:/listed', HOME: '/home/joe', ...pod } },
    'https://10.0.0.1:6443',
  ],
  ['then KUBECONFIG', { env: { KUBECONFIG: '/none:/listed', HOME: '/home/joe' } }, 'https://listed'],
  [
    'KUBECONFIG in a pod when a context is asked for',
    { kubeContext: 'other', env: { KUBECONFIG: '/listed', HOME: '/home/joe', ...pod } },
    'https://listed',
  ],
  ['then the home directory', { env: { HOME: '/home/joe' } }, 'https://home'],
  [
    'a context from files, not from the pod',
    { kubeContext: 'other', env: { HOME: '/home/joe', ...pod } },
    'https://home',
  ],
  [
    'the given server with the credentials of the file',
    { kubeServer: 'https://x/', env: { HOME: '/home/joe' } },
    'https://x',
  ],
  [
    'the given server alone',
    { kubeServer: 'localhost:8080', env: { HOME: '/root', ...pod } },
    'http://localhost:8080',
  ],
])('loadKubeConfig() takes %s', async (_, options, server) => {
  expect((await loadKubeConfig({ ...options, readFile: files(everywhere) })).server).toBe(server);
});

test('loadKubeConfig() takes token, CA and namespace of the service account', async () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1' };
  expect(await loadKubeConfig({ env, readFile: files(everywhere) })).toEqual({
    server: 'https://[fd00::1]:443',
    currentNamespace: 'operators',
    source: 'in-cluster',
    tls: { isVerified: true, ca: { type: 'file', path: `${ACCOUNT}/ca.crt` } },
    identity: { type: 'token', token: { type: 'file', path: `${ACCOUNT}/token` } },
    kubeconfig: {
      type: 'document',
      document: {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'main',
        contexts: [{ name: 'main', context: { cluster: 'main', user: 'main', namespace: 'operators' } }],
        clusters: [
          {
            name: 'main',
            cluster: { server: 'https://[fd00::1]:443', 'certificate-authority': `${ACCOUNT}/ca.crt` },
          },
        ],
        users: [{ name: 'main', user: { tokenFile: `${ACCOUNT}/token` } }],
      },
    },
  });
});

test('loadKubeConfig() gives what is used of several files as one, with the paths of each', async () => {
  const readFile = files({
    '/a/one': `
current-context: x
contexts: [{name: x, context: {cluster: c, user: u, namespace: n}}]
clusters: [{name: c, cluster: {server: 'https://one', certificate-authority: ca, proxy-url: 'http://p'}}]`,
    '/b/two': `
current-context: y
contexts: [{name: y, context: {cluster: c, user: v}}]
clusters: [{name: c, cluster: {server: 'https://two'}}, {name: d, cluster: {server: 'https://d'}}]
users:
- {name: u, user: {client-certificate: ../cert, client-key: /k, as: joe, exec: {command: ./bin/login, args: [./x]}}}
- {name: v, user: {tokenFile: t, exec: {command: login}}}`,
  });
  const load = async (kubeContext?: string): Promise<unknown> =>
    (await loadKubeConfig({ env: { KUBECONFIG: '/a/one:/b/two' }, readFile, kubeContext })).kubeconfig;
  const cluster = { server: 'https://one', 'certificate-authority': '/a/ca', 'proxy-url': 'http://p' };
  const base = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: 'c', cluster }] };
  const exec = { command: '/b/bin/login', args: ['./x'] };
  const certificate = { 'client-certificate': '/cert', 'client-key': '/k' };
  expect(await load()).toEqual({
    type: 'document',
    document: {
      ...base,
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
      users: [{ name: 'u', user: { ...certificate, as: 'joe', exec } }],
    },
  });
  expect(await load('y')).toEqual({
    type: 'document',
    document: {
      ...base,
      'current-context': 'y',
      contexts: [{ name: 'y', context: { cluster: 'c', user: 'v' } }],
      users: [{ name: 'v', user: { tokenFile: '/b/t', exec: { command: 'login' } } }],
    },
  });
});

test('loadKubeConfig() gives a file with another server as a document with that server', async () => {
  const text = kubeconfig('exec: {command: login}', 'server: https://a, tls-server-name: s');
  const { kubeconfig: source } = await loadKubeConfig({
    kubeConfigPath: '/kc',
    kubeServer: 'b:6443',
    env: {},
    readFile: files({ '/kc': text }),
  });
  expect(source).toMatchObject({
    document: {
      'current-context': 'main',
      clusters: [{ name: 'c', cluster: { server: 'http://b:6443', 'tls-server-name': 's' } }],
      users: [{ name: 'u', user: { exec: { command: 'login' } } }],
    },
  });
});

test('loadKubeConfig() merges the files of KUBECONFIG, the first entry of a name counts', async () => {
  const readFile = files({
    '/a/one':
      'contexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: https://one, certificate-authority: ca}}]',
    '/b/two': 'current-context: x\nclusters: [{name: c, cluster: {server: https://two}}]',
  });
  const access = await loadKubeConfig({ env: { KUBECONFIG: '/a/one:/b/two' }, readFile });
  expect(access).toMatchObject({
    server: 'https://one',
    source: '/a/one, /b/two',
    tls: { ca: { type: 'file', path: '/a/ca' } },
  });
});

test('loadKubeConfig() takes KUBECONFIG in a pod that has no token, and not ~/.kube/config', async () => {
  const readFile = files({
    '/listed': everywhere['/listed'],
    '/home/joe/.kube/config': everywhere['/explicit'],
  });
  const { server } = await loadKubeConfig({ env: { KUBECONFIG: '/listed', ...pod }, readFile });
  expect(server).toBe('https://listed');
  await expect(loadKubeConfig({ env: { HOME: '/home/joe', ...pod }, readFile })).rejects.toThrow(
    'automountServiceAccountToken',
  );
});

test.each<[string, Omit<KubeConfigOptions, 'readFile'>, string]>([
  [
    'an explicit file that is missing',
    { kubeConfigPath: '/none', env: {} },
    '--kube-config: /none does not exist',
  ],
  [
    'a list of missing files',
    { env: { KUBECONFIG: '/none:/gone' } },
    'KUBECONFIG: /none, /gone does not exist',
  ],
  ['no configuration at all', { env: {} }, 'no cluster found'],
  ['a pod without a token', { env: pod }, `${ACCOUNT}/token does not exist`],
])('loadKubeConfig() refuses %s', async (_, options, problem) => {
  await expect(loadKubeConfig({ ...options, readFile: files({}) })).rejects.toThrow(problem);
});

test.each([
  ['exec: {command: x}', 'server: https://a'],
  ['', 'server: https://a, insecure-skip-tls-verify: true'],
])('loadKubeConfig() refuses {%s} {%s} in a pod unless allowed', async (user, cluster) => {
  const options = { kubeConfigPath: '/kc', readFile: files({ '/kc': kubeconfig(user, cluster) }) };
  await expect(loadKubeConfig({ ...options, env: pod })).rejects.toThrow(
    'ADDON_OPERATOR_KUBE_ALLOW_UNSAFE=true',
  );
  await expect(
    loadKubeConfig({ ...options, env: { ...pod, ADDON_OPERATOR_KUBE_ALLOW_UNSAFE: 'true' } }),
  ).resolves.toMatchObject({ server: 'https://a' });
});
