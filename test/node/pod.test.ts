import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodePrometheus } from '../support/node/node-prometheus.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { type PodObject, PodOperator, RELEASE } from '../support/node/pod-operator.ts';
import { prometheusForTests } from '../support/prometheus/prometheus-programs.ts';

const programs = await prometheusForTests();
const PROGRAM = join(import.meta.dirname, '../../bin/addon-operator');
const SOON = { timeout: 600_000, interval: 200 };

describeNode('the operator in a pod', (node) => {
  let shared: SharedNode;
  let operator: PodOperator;
  beforeAll(async () => {
    shared = await node();
    operator = await PodOperator.install(shared, SPEC);
  });
  afterAll(async () => await operator?.[Symbol.asyncDispose]());

  test('kubectl reads its log and runs its commands', async () => {
    expect(await operator.kubectl('logs', `deploy/${RELEASE}`)).toContain('"level":"info"');
    expect(await operator.exec('/addon-operator', 'status')).toContain('all is well');
  });

  test('the page of its pod is reached by `kubectl port-forward`, with the address that its command prints', async () => {
    const printed = await operator.exec('addon-operator', 'ui');
    const token = new URL(printed.trim()).hash.replace('#token=', '');
    await using forward = await operator.forward(9652);
    const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`http://127.0.0.1:${forward.port}${path}`, { headers });

    const page = await get('/ui/modules');
    expect(page.status).toBe(200);
    const script = /src="\.\/(assets\/[^"]+\.js)"/u.exec(await page.text())?.[1] ?? '';
    expect((await get(`/ui/${script}`)).headers.get('content-type')).toContain('javascript');
    expect((await get('/api/v1/now')).status).toBe(401);
    const now = await get('/api/v1/now', { 'X-Addon-Operator-Token': token });
    expect(await now.json()).toMatchObject({ headline: { level: 'well' } });
    const stream = await get('/api/v1/stream?topics=headline', { Authorization: `Bearer ${token}` });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: ready')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('event: snapshot');
    await reader?.cancel();
  });

  test('the page of its pod is reached by `ui` of the program on a laptop, until Ctrl-C', async () => {
    const flags = ['--kubeconfig', shared.node.kubeconfigPath, '-n', operator.namespace];
    const page = execa(PROGRAM, [...flags, 'ui'], { env: { PATH: process.env['PATH'] }, extendEnv: false });
    const [address] = (await once(createInterface({ input: page.stdout }), 'line')) as [string];
    const { origin, hash } = new URL(address);
    const headers = { 'X-Addon-Operator-Token': hash.replace('#token=', '') };
    for (let times = 0; times < 3; times += 1) {
      const now = await fetch(`${origin}/api/v1/now`, { headers });
      expect(await now.json()).toMatchObject({ headline: { level: 'well' } });
    }
    page.kill('SIGINT');
    expect(await page).toMatchObject({ exitCode: 0 });
  });

  test.skipIf(programs === undefined)(
    'a Prometheus reads its metrics through the Service, which a NetworkPolicy leaves open',
    async () => {
      const services = `/api/v1/namespaces/${operator.namespace}/services/${RELEASE}`;
      const { spec } = (await shared.node.probe.expect({ path: services })) as {
        readonly spec: { readonly clusterIP: string };
      };
      const policies = `/apis/networking.k8s.io/v1/namespaces/${operator.namespace}/networkpolicies/${RELEASE}`;
      expect(await shared.node.probe.expect({ path: policies })).toMatchObject({
        spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 'http', protocol: 'TCP' }] }] },
      });
      const target = `${spec.clusterIP}:9650`;
      await using prometheus = await NodePrometheus.start(shared.node, programs?.prometheus ?? '', target);
      await expect
        .poll(async () => await prometheus.query('up'), SOON)
        .toMatchObject([{ value: [expect.any(Number), '1'] }]);
      const read = async () => await prometheus.query('addon_operator_live_ticks');
      await expect.poll(read, SOON).toMatchObject([{ metric: { instance: target } }]);
    },
  );

  test('its root is read-only, its hooks have the time zone that is set, and a full directory for temporary files passes', async () => {
    await createWork(shared, operator, 'facts');
    await expect
      .poll(async () => await factsOf(shared, operator), SOON)
      .toEqual({ root: 'read-only', zone: '+0900', year: String(new Date().getFullYear()) });

    await operator.exec('sh', '-c', 'cat /dev/zero > /small/filled 2>/dev/null; true');
    await createWork(shared, operator, 'full');
    await expect
      .poll(async () => await operator.records(), SOON)
      .toContainEqual(expect.objectContaining({ hook: 'full', error: expect.stringContaining('ENOSPC') }));
    await operator.exec('rm', '/small/filled');
    const pod = await onlyPod(operator);
    await expect.poll(async () => await resultOf(shared, operator, 'full'), SOON).toBe(pod.metadata.name);
    expect(pod.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
  });

  test('a hook that uses up the memory of the container is killed, and the operator is not', async () => {
    const pod = await onlyPod(operator);
    await createWork(shared, operator, 'greedy');
    await expect
      .poll(async () => await operator.records(), SOON)
      .toContainEqual(expect.objectContaining({ hook: 'greedy', code: 'HOOK_FAILED', exitCode: 137 }));
    const after = await onlyPod(operator);
    expect(after.metadata.name).toBe(pod.metadata.name);
    expect(after.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
  });

  test('it works without cluster DNS, and goes on when the API server was away', async () => {
    const pod = await onlyPod(operator);
    await shared.node.killService('coredns');
    await createWork(shared, operator, 'quick');
    await expect.poll(async () => await resultOf(shared, operator, 'quick'), SOON).toBe(pod.metadata.name);
    await shared.node.startService('coredns');

    await shared.node.killService('kube-apiserver');
    await shared.node.startService('kube-apiserver');
    await expect
      .poll(
        async () => (await shared.node.probe.request({ path: '/readyz' }).catch(() => undefined))?.status,
        SOON,
      )
      .toBe(200);
    await createWork(shared, operator, 'again');
    await expect.poll(async () => await resultOf(shared, operator, 'again'), SOON).toBe(pod.metadata.name);
    const after = await onlyPod(operator);
    expect(after.status.containerStatuses).toMatchObject([{ restartCount: 0 }]);
  });

  test('a hook that runs ends before its pod does', async () => {
    const pod = await onlyPod(operator);
    await createWork(shared, operator, 'slow');
    await expect
      .poll(async () => await resultOf(shared, operator, 'slow-started'), SOON)
      .toBe(pod.metadata.name);
    const path = `/api/v1/namespaces/${operator.namespace}/pods/${pod.metadata.name}`;
    await shared.node.probe.expect({ method: 'DELETE', path });
    await expect.poll(async () => (await shared.node.probe.request({ path })).status, SOON).toBe(404);
    expect(await resultOf(shared, operator, 'slow')).toBe(pod.metadata.name);
    await expect
      .poll(async () => (await onlyPod(operator)).status.containerStatuses?.[0]?.ready, SOON)
      .toBe(true);
  });
});

/** A global hook that runs a script when a ConfigMap gets the label `work` with one of the values. */
function worker(values: string, script: string, allowFailure = true): string {
  return `#!/bin/sh
if [ "$1" = --config ]; then
  cat <<YAML
configVersion: v1
kubernetes:
- name: work
  apiVersion: v1
  kind: ConfigMap
  executeHookOnEvent: [Added]
  executeHookOnSynchronization: false
  labelSelector: {matchExpressions: [{key: work, operator: In, values: ${values}}]}
  namespace: {nameSelector: {matchNames: [$ADDON_OPERATOR_NAMESPACE]}}
  allowFailure: ${allowFailure}
YAML
  exit
fi
work=$(jq -r '.[0].object.metadata.labels.work' "$BINDING_CONTEXT_PATH")
note() { kubectl create configmap "$1" --from-literal=by="$HOSTNAME"; }
${script}
`;
}

const SPEC = {
  name: 'pod',
  permissions: 'administrator',
  files: {
    'global-hooks/quick': worker('[quick, again]', 'note "$work"'),
    'global-hooks/facts': worker(
      '[facts]',
      `root=read-only; if touch /probe; then root=writable; fi
kubectl create configmap facts --from-literal=root=$root --from-literal=zone=$(date +%z) --from-literal=year=$(date +%Y)`,
    ),
    'global-hooks/full': worker('[full]', 'note full', false),
    'global-hooks/slow': worker('[slow]', 'note slow-started; sleep 5; note slow'),
    // What it reads has no end of a line, so it is kept in memory.
    'global-hooks/greedy': worker('[greedy]', 'head -c 2000000000 /dev/zero | tail'),
  },
  values: {
    resources: { limits: { memory: '400Mi' } },
    'networkPolicy.enabled': true,
    'ui.enabled': true,
    'settings.TZ': 'Asia/Tokyo',
    // Memory has the size that is given; a directory on the disk is only measured now and then.
    'settings.ADDON_OPERATOR_TMP_DIR': '/small/tmp',
    volumes: [{ name: 'small', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } }],
    volumeMounts: [{ name: 'small', mountPath: '/small' }],
  },
} as const;

async function onlyPod(operator: PodOperator): Promise<PodObject> {
  const [pod, ...others] = await operator.pods();
  if (pod === undefined || others.length > 0) throw new Error(`there are ${others.length + 1} pods`);
  return pod;
}

async function createWork({ node }: SharedNode, { namespace }: PodOperator, work: string): Promise<void> {
  const metadata = { name: `work-${work}`, labels: { work } };
  await node.probe.expect({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/configmaps`,
    body: { metadata },
  });
}

async function factsOf({ node }: SharedNode, { namespace }: PodOperator): Promise<unknown> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/configmaps/facts` });
  return (body as { readonly data?: unknown }).data;
}

/** The pod that has done the work. */
async function resultOf({ node }: SharedNode, { namespace }: PodOperator, name: string): Promise<unknown> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/configmaps/${name}` });
  return (body as { readonly data?: Readonly<Record<string, string>> }).data?.['by'];
}
