import { homedir } from 'node:os';
import { pinnedKubectl } from '@addon-operator/pinned-tools';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { type PodObject, PodOperator, RELEASE } from '../support/node/pod-operator.ts';
import { StartedCommand } from '../support/started-command.ts';

const SOON = { timeout: 600_000, interval: 200 };

describeNode('the operator in a pod', (node) => {
  let shared: SharedNode;
  let operator: PodOperator;
  beforeAll(async () => {
    shared = await node();
    operator = await PodOperator.install(shared, SPEC);
  });
  afterAll(async () => await operator?.[Symbol.asyncDispose]());

  test('kubectl reads its log and runs its commands, and its metrics are read through the Service', async () => {
    const kubectl = await kubectlOf(shared, operator);
    expect(await kubectl('logs', `deploy/${RELEASE}`)).toContain('"level":"info"');
    const status = await kubectl('exec', `deploy/${RELEASE}`, '--', '/addon-operator', 'status');
    expect(status).toContain('all is well');
    const { body } = await shared.node.probe.request({
      path: `/api/v1/namespaces/${operator.namespace}/services/${RELEASE}`,
    });
    const { clusterIP } = (body as { spec: { clusterIP: string } }).spec;
    const metrics = await shared.node.run('curl', '--silent', `http://${clusterIP}:9650/metrics`);
    expect(metrics.stdout).toContain('addon_operator_live_ticks');
  });

  test('the page of its pod is reached by `kubectl port-forward`, with the address that its command prints', async () => {
    const kubectl = await kubectlOf(shared, operator);
    const printed = await kubectl('exec', `deploy/${RELEASE}`, '--', '/addon-operator', 'ui');
    const token = new URL(printed.trim()).hash.replace('#token=', '');
    await using forward = await forwardPage(shared, operator);
    const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${forward.origin}${path}`, { headers });

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
function worker(values: string, script: string): string {
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
  allowFailure: true
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
    'global-hooks/slow': worker('[slow]', 'note slow-started; sleep 5; note slow'),
    // What it reads has no end of a line, so it is kept in memory.
    'global-hooks/greedy': worker('[greedy]', 'head -c 2000000000 /dev/zero | tail'),
  },
  values: { resources: { limits: { memory: '400Mi' } }, 'ui.enabled': true },
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

/** The pod that has done the work. */
async function resultOf({ node }: SharedNode, { namespace }: PodOperator, name: string): Promise<unknown> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/configmaps/${name}` });
  return (body as { readonly data?: Readonly<Record<string, string>> }).data?.['by'];
}

/** The page's port of a pod on a free port of this machine. */
async function forwardPage(
  { node }: SharedNode,
  { namespace }: PodOperator,
): Promise<AsyncDisposable & { readonly origin: string }> {
  const flags = [`--kubeconfig=${node.kubeconfigPath}`, `--namespace=${namespace}`];
  const args = [...flags, 'port-forward', `deploy/${RELEASE}`, ':9652'];
  const { PATH, HOME } = process.env;
  const command = new StartedCommand(await kubectlFile(), args, { PATH, HOME });
  const started = /Forwarding from (127\.0\.0\.1:\d+)/u;
  await command.until(started);
  return {
    origin: `http://${started.exec(command.output)?.[1] ?? ''}`,
    [Symbol.asyncDispose]: async () => {
      command.kill('SIGKILL');
      await command.exitCode;
    },
  };
}

async function kubectlFile(): Promise<string> {
  const cacheDir = cacheDirectory(process.env, homedir());
  const options = { cacheDir, onProgress: (message: string) => console.warn(message) };
  return await pinnedKubectl(options, new AbortController().signal);
}

async function kubectlOf({ node }: SharedNode, { namespace }: PodOperator) {
  const file = await kubectlFile();
  return async (...args: readonly string[]): Promise<string> => {
    const flags = [`--kubeconfig=${node.kubeconfigPath}`, `--namespace=${namespace}`];
    return (await execa(file, [...flags, ...args], { stdin: 'ignore' })).stdout;
  };
}
