import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { daemonHost } from '../../../test/support/daemon-host.ts';
import { KubeApiError } from './kube-client.ts';
import { requireNamespace } from './require-namespace.ts';

/** Asks a server that responds one request after another with these. */
function harness(...responses: readonly (Error | object)[]) {
  const host = daemonHost();
  const paths: string[] = [];
  const kube = {
    request: async ({ path }: { readonly path: string }): Promise<unknown> => {
      const response = responses[paths.length];
      paths.push(path);
      if (response instanceof Error) throw response;
      return response;
    },
  };
  return {
    host,
    paths,
    asked: requireNamespace({ namespace: 'shop' }, host, kube, new AbortController().signal),
  };
}

test('a namespace that exists is enough', async () => {
  const { paths, asked } = harness({ kind: 'Namespace' });
  await asked;
  expect(paths).toEqual(['/api/v1/namespaces/shop']);
});

test('a missing one is reported at once, with what to do', async () => {
  const { asked } = harness(new KubeApiError('not found', { status: 404, reason: 'NotFound' }));
  await expect(asked).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message:
      'flag --namespace (variable ADDON_OPERATOR_NAMESPACE): namespace "shop" does not exist; create it with "kubectl create namespace shop", or set another one',
  });
});

test('an account that may not look at namespaces goes on', async () => {
  const { asked, paths } = harness(new KubeApiError('forbidden', { status: 403, reason: 'Forbidden' }));
  await asked;
  expect(paths).toHaveLength(1);
});

test('a server that is away is waited for', async () => {
  const { host, asked, paths } = harness(
    new OperatorError('KUBE_UNREACHABLE', 'connection refused'),
    new KubeApiError('page not found', { status: 404, reason: '' }),
    {},
  );
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await host.clock.untilAsleep();
    await host.clock.advance(host.clock.pendingDelaysMs[0] ?? 0);
  }
  await asked;
  expect(paths).toHaveLength(3);
  const record = { msg: 'waiting for the API server: it does not respond yet', wanted: 'namespace' };
  expect(host.captured.records).toMatchObject([record, record]);
});
