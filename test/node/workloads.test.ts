import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAUSE_IMAGE } from '../support/node/kubelet-files.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { PodOperator, type PodOperatorSpec } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };
const UNPULLABLE = 'registry.invalid/none:1';

describeNode('workloads of modules that wait until they are ready', (node) => {
  let shared: SharedNode;
  let operator: PodOperator;
  beforeAll(async () => {
    shared = await node();
    operator = await PodOperator.prepare(shared, specOf(shared));
    await operator.startUpgrade();
  });
  afterAll(async () => await operator?.[Symbol.asyncDispose]());

  test('the module of one that runs is ready, and those of others say what is not and are ready when it is mended', async () => {
    const good = async () => await replicas(shared, operator, 'good');
    await expect.poll(good, SOON).toEqual({ wanted: 1, available: 1 });
    await expect.poll(async () => await explain(operator, 'good'), SOON).toMatchObject({ failure: null });
    await expect
      .poll(async () => await explain(operator, 'unpullable'), SOON)
      .toMatchObject({ failure: { code: 'RELEASE_NOT_READY', error: expect.stringMatching(NOT_AVAILABLE) } });
    await expect
      .poll(async () => await explain(operator, 'crashing'), SOON)
      .toMatchObject({ failure: { error: expect.stringMatching(CRASHING) } });
    await expect
      .poll(async () => await explain(operator, 'refused'), SOON)
      .toMatchObject({ failure: { error: expect.stringMatching(REFUSED) } });
    const [pod] = await operator.pods();
    expect(pod?.status.containerStatuses).toMatchObject([{ restartCount: 0 }]);

    await operator.kubectl('patch', 'configmap', 'addon-operator', '--type=merge', '--patch', MENDED);
    for (const module of NOT_READY) {
      await expect.poll(async () => await explain(operator, module), SOON).toMatchObject({ failure: null });
    }
    for (const name of NOT_READY) {
      expect(await replicas(shared, operator, name)).toEqual({ wanted: 1, available: 1 });
    }
    await operator.kubectl('rollout', 'status', 'deployment/op', '--timeout=300s');
  });

  test('drift of a Deployment is reverted, and its pod runs again', async () => {
    await expect
      .poll(async () => await replicas(shared, operator, 'good'), SOON)
      .toMatchObject({ wanted: 1 });
    await operator.kubectl('scale', 'deployment', 'good', '--replicas=0');
    await expect
      .poll(async () => await operator.records(), SOON)
      .toContainEqual(expect.objectContaining({ msg: 'object differs from what helm applied' }));
    await expect
      .poll(async () => await replicas(shared, operator, 'good'), SOON)
      .toEqual({ wanted: 1, available: 1 });
  });
});

const NOT_AVAILABLE =
  /Deployment\/unpullable: 0 of 1 replicas are available, pod unpullable-\S+ has a container main that waits \((?:Err|ImagePull)/;
const REFUSED = /its pods are refused: pods "refused-\S+ is forbidden: violates PodSecurity "restricted/;
const NOT_READY = ['unpullable', 'crashing', 'refused'];
const CRASHING = /pod crashing-\S+ has a container main that (?:ended|waits after it ended) with exit code 1/;
const MENDED = JSON.stringify({
  data: {
    unpullable: `image: ${PAUSE_IMAGE}`,
    crashing: 'command: [sleep, infinity]',
    refused: 'isRoot: false',
  },
});

const RESTRICTED = `securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      terminationGracePeriodSeconds: 1`;
const CONTAINER = `imagePullPolicy: IfNotPresent
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`;

/** A Deployment of a module; `command` is a flow list, or empty for that of the image. */
function deployment(name: string, image: string, command: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: 1
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      ${RESTRICTED}
      containers:
      - name: main
        image: ${image}
        ${command}
        ${CONTAINER}
`;
}

function module(name: string, values: string, template: string): Record<string, string> {
  const directory = `modules/001-${name}`;
  return {
    [`${directory}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`,
    [`${directory}/module.yaml`]: 'waitUntilReady: true\ndrift: {mode: heal}\n',
    [`${directory}/values.yaml`]: `${name}Enabled: true\n${name}: ${values}\n`,
    [`${directory}/templates/workload.yaml`]: template,
  };
}

function specOf({ operatorImage }: SharedNode): PodOperatorSpec {
  return {
    name: 'workloads',
    files: {
      ...module('good', '{}', deployment('good', PAUSE_IMAGE, '')),
      ...module(
        'unpullable',
        `{image: "${UNPULLABLE}"}`,
        deployment('unpullable', '{{ .Values.unpullable.image }}', ''),
      ),
      ...module(
        'crashing',
        '{command: ["false"]}',
        // A kubelet that looks between the start of the container and its end says that it is ready.
        deployment('crashing', operatorImage.name, 'command: {{ toJson .Values.crashing.command }}').replace(
          'replicas: 1',
          'replicas: 1\n  minReadySeconds: 10',
        ),
      ),
      ...module(
        'refused',
        '{isRoot: true}',
        deployment('refused', PAUSE_IMAGE, '').replace(
          'runAsNonRoot: true',
          'runAsNonRoot: {{ not .Values.refused.isRoot }}',
        ),
      ),
    },
    // Those that are not ready must not hold up the others.
    values: { 'settings.ADDON_OPERATOR_MODULE_FAILURE_POLICY': 'isolate' },
  };
}

interface Explanation {
  readonly failure: { readonly error: string; readonly code: string } | null;
}

async function explain(operator: PodOperator, module: string): Promise<Explanation | string> {
  try {
    return JSON.parse(
      await operator.exec('addon-operator', 'explain', 'module', module, '-o', 'json'),
    ) as Explanation;
  } catch (error) {
    return String(error);
  }
}

async function replicas({ node }: SharedNode, { namespace }: PodOperator, name: string): Promise<unknown> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const { body } = await node.probe.request({ path });
  const { spec, status } = body as {
    readonly spec?: { readonly replicas: number };
    readonly status?: { readonly availableReplicas?: number };
  };
  return { wanted: spec?.replicas, available: status?.availableReplicas ?? 0 };
}
