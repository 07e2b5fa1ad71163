import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import { Discovery } from '@addon-operator/kube-client/discovery';
import type { HttpKubeClient } from '@addon-operator/kube-client/http-kube-client';
import { hasStatus, type KubeClient } from '@addon-operator/kube-client/kube-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessFrom, clientFor } from '../support/cluster-client.ts';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';

const signal = new AbortController().signal;
const whoAmI = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
} as const;

/** Definitions of other tests come and go. */
function isOfKubernetes(apiVersion: string): boolean {
  const [group = ''] = apiVersion.split('/');
  return !group.includes('.') || group.endsWith('.k8s.io');
}

describeCluster('the API client', (cluster) => {
  let directory = '';
  let client: HttpKubeClient;
  let probe: ApiProbe;
  let namespace = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kube-client-'));
    client = clientFor(await accessFrom(cluster().kubeconfigPath));
    probe = new ApiProbe(cluster().access);
    namespace = await probe.createNamespace('client');
  });

  afterAll(async () => {
    client.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** A client from a kubeconfig of these `cluster` and `user` entries, over our CA and server. */
  async function clientWith(clusterFields: object, user: object): Promise<HttpKubeClient> {
    const path = join(directory, `config-${Math.random()}`);
    const { serverUrl, caFile } = cluster().access;
    const config = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [
        { name: 'c', cluster: { server: serverUrl, 'certificate-authority': caFile, ...clusterFields } },
      ],
      users: [{ name: 'u', user }],
    };
    await writeFile(path, JSON.stringify(config));
    return clientFor(await accessFrom(path));
  }

  async function userOf(client: HttpKubeClient): Promise<unknown> {
    const response = await client.request(whoAmI, signal);
    const status = isObject(response) && isObject(response['status']) ? response['status'] : {};
    return isObject(status['userInfo']) ? status['userInfo']['username'] : undefined;
  }

  async function tokenOf(account: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await probe.expect({ method: 'POST', path, body: { metadata: { name: account } } });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const response = await probe.expect({ method: 'POST', path: `${path}/${account}/token`, body });
    return (response as { status: { token: string } }).status.token;
  }

  test('authenticates by client certificate', async () => {
    expect(await userOf(client)).toBe('admin');
  });

  test('uses a token file that was replaced, at once after a 401', async () => {
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, 'expired');
    const byToken = await clientWith({}, { tokenFile });
    expect(hasStatus(await userOf(byToken).catch((error: unknown) => error), 401)).toBe(true);
    await writeFile(tokenFile, await tokenOf('rotated'));
    expect(await userOf(byToken)).toBe(`system:serviceaccount:${namespace}:rotated`);
    byToken.close();
  });

  test('authenticates by an exec plug-in', async () => {
    const status = { token: await tokenOf('plugin') };
    const response = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status,
    });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [response] };
    const byPlugin = await clientWith({}, { exec });
    expect(await userOf(byPlugin)).toBe(`system:serviceaccount:${namespace}:plugin`);
    byPlugin.close();
  });

  test('refuses a server that its CA did not sign, or that has another name', async () => {
    const { certFile } = cluster().access;
    for (const fields of [
      { 'certificate-authority': certFile },
      { 'tls-server-name': 'other.example.com' },
    ]) {
      const strict = await clientWith(fields, {});
      await expect(strict.request({ method: 'GET', path: '/version' }, signal)).rejects.toMatchObject({
        code: 'KUBE_UNREACHABLE',
      });
      strict.close();
    }
  });

  test('uses the name to verify, inline CA data, and skips verification when configured', async () => {
    const data = (await readFile(cluster().access.caFile)).toString('base64');
    for (const fields of [
      { 'tls-server-name': 'kubernetes.default.svc' },
      { 'certificate-authority': '', 'certificate-authority-data': data },
      { 'certificate-authority': '', 'insecure-skip-tls-verify': true },
    ]) {
      const lax = await clientWith(fields, {});
      expect(await lax.request({ method: 'GET', path: '/version' }, signal)).toMatchObject({ major: '1' });
      lax.close();
    }
  });

  test('reads a list so long that the server compresses it', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const text = 'long '.repeat(40_000);
    await probe.expect({ method: 'POST', path, body: { metadata: { name: 'long' }, data: { text } } });
    expect(await client.request({ method: 'GET', path: `${path}/long` }, signal)).toMatchObject({
      data: { text },
    });
  });

  test('streams watch events until it is aborted', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const stop = new AbortController();
    const query = { watch: 'true', fieldSelector: 'metadata.name=watched' };
    const lines = await client.stream({ method: 'GET', path, query }, stop.signal);
    await probe.expect({
      method: 'POST',
      path,
      body: { metadata: { name: 'watched' }, data: { key: 'grün 🎈' } },
    });
    const reader = lines[Symbol.asyncIterator]();
    const first = await reader.next();
    expect(JSON.parse(String(first.value))).toMatchObject({
      type: 'ADDED',
      object: { data: { key: 'grün 🎈' } },
    });
    const next = reader.next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  test('discovers the same kinds by aggregated and by plain documents', async () => {
    const discover = (kube: KubeClient): Discovery =>
      new Discovery({ kube, clock: systemClock, log: silentLogger });
    const aggregated = discover(client);
    const byPlain = discover({
      request: (request, signal) => client.request({ ...request, accept: 'application/json' }, signal),
      stream: (request, signal) => client.stream(request, signal),
    });
    const [one, other] = [await byPlain.apiVersions(signal), await aggregated.apiVersions(signal)];
    expect(one.filter(isOfKubernetes)).toEqual(other.filter(isOfKubernetes));
    for (const kind of ['deploy', 'Pods', 'cm', 'crd', 'Event', 'ing', 'hpa', 'role', 'ns']) {
      expect(await byPlain.find(undefined, kind, signal)).toEqual(
        await aggregated.find(undefined, kind, signal),
      );
    }
    expect(await aggregated.find(undefined, 'hpa', signal)).toMatchObject({
      version: 'v2',
      isNamespaced: true,
    });
    expect(await aggregated.find(undefined, 'event', signal)).toMatchObject({ group: '', version: 'v1' });
    await expect(aggregated.find('v1', 'Nonsense', signal)).rejects.toMatchObject({
      code: 'KUBE_KIND_UNKNOWN',
    });
    expect(await aggregated.serverVersion(signal)).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\./),
    });
  });
});
