import { expect, test, vi } from 'vitest';
import { ApiProbe } from '../support/control-plane/api-probe.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { FaultProxy } from '../support/fault-proxy.ts';

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { key: 'value' } };
}

describeCluster('the shared control plane', (cluster) => {
  test('returns its version', async () => {
    const probe = new ApiProbe(cluster().access);
    expect(await probe.expect({ path: '/version' })).toMatchObject({ major: '1', minor: expect.any(String) });
  });

  test('deletes a namespace with its objects', async () => {
    const probe = new ApiProbe(cluster().access);
    const path = `/api/v1/namespaces/${await probe.createNamespace('smoke')}`;
    await probe.expect({ method: 'POST', path: `${path}/configmaps`, body: configMap('mine') });
    await probe.expect({ method: 'DELETE', path });
    await vi.waitFor(async () => expect((await probe.request({ path })).status).toBe(404), 90_000);
  });

  test('is reached through the fault proxy, watches included', async () => {
    const probe = new ApiProbe(cluster().access);
    const path = `/api/v1/namespaces/${await probe.createNamespace('proxy')}/configmaps`;
    await using proxy = await FaultProxy.start(cluster().access);
    const watch = await fetch(`${proxy.url}${path}?watch=true&fieldSelector=metadata.name%3Dseen`);
    await probe.expect({ method: 'POST', path, body: configMap('seen') });
    const reader = watch.body?.getReader();
    const event = Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(JSON.parse(event)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'seen' } } });
    proxy.add({ verb: 'list' }, { type: 'cut-after-bytes', bytes: 20 });
    await expect(fetch(`${proxy.url}${path}`).then(async (list) => await list.text())).rejects.toThrow(
      'terminated',
    );
    expect(proxy.calls.map(({ verb, fault }) => [verb, fault])).toEqual([
      ['watch', null],
      ['list', 'cut-after-bytes'],
    ]);
  });
});
