import { afterAll, beforeAll, expect, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import {
  AdmissionLoad,
  createConverted,
  createConvertedKind,
  RESPONDING_HOOK,
  requestOnce,
} from '../support/node/admission-load.ts';
import {
  deleteConvertedKind,
  leadersOf,
  reportResults,
  untilMore,
  untilResponded,
} from '../support/node/admission-waits.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { type PodObject, PodOperator } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };
const signal = new AbortController().signal;

describeNode('two replicas of the operator on two nodes', (node) => {
  beforeAll(async () => await createConvertedKind((await node()).node));
  afterAll(async () => await deleteConvertedKind((await node()).node));

  test(
    'the standby leads and serves all requests when the node of the leader is lost, and a node that is lost later stops nothing',
    furtherNode,
    async () => {
      const shared = await node();
      await using second = await shared.node.join([shared.parts.operatorImage], signal);
      await using operator = await PodOperator.install(shared, SPEC);
      await createConverted(shared.node, operator.namespace);
      expect((await operator.pods()).map(({ spec }) => spec.nodeName ?? '').toSorted()).toEqual([
        'node1',
        'node2',
      ]);
      await untilResponded(shared, operator);
      const lost = await leaderOn(second.name, shared, operator);

      await using load = new AdmissionLoad(shared.node, operator);
      await untilMore(load, 50);
      expect(load.failures).toEqual([]);
      const cutMs = performance.now();
      await second.powerCut();
      const served = () =>
        load.results.find(({ pod, startMs }) => startMs > cutMs && ![undefined, lost].includes(pod));
      await expect.poll(served, SOON).toBeDefined();
      const servedMs = served()?.endMs ?? 0;
      // The Services select pods that are not ready too.
      await expect.poll(async () => await isEndpoint(operator, lost), SOON).toBe(false);
      await untilAllServed(load);
      reportResults(
        `leader lost with its node, served after ${Math.round(servedMs - cutMs)} ms`,
        load.results,
      );

      await second.powerOn(signal);
      const isBack = async () =>
        (await operator.pods()).some(
          (pod) => pod.metadata.name === lost && isReady(pod) && restarts(pod) > 0,
        );
      await expect.poll(isBack, SOON).toBe(true);
      await expect.poll(async () => await isEndpoint(operator, lost), SOON).toBe(true);
      await second.powerCut();
      await expect.poll(async () => await isEndpoint(operator, lost), SOON).toBe(false);
      await untilAllServed(load);
      reportResults('standby lost with its node', load.results);
      // Neither replica answered while the other one led.
      const leaders = leadersOf(await load.stop());
      expect(leaders).toHaveLength(new Set(leaders).size);
      // The Job that runs before the uninstallation is not to be scheduled there.
      await second[Symbol.asyncDispose]();
    },
  );
});

const SPREAD = {
  topologyKey: 'kubernetes.io/hostname',
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'addon-operator' } },
};
const SPEC = {
  name: 'two-nodes',
  files: { 'global-hooks/respond': RESPONDING_HOOK },
  values: {
    'webhooks.enabled': true,
    'highAvailability.enabled': true,
    topologySpreadConstraints: [SPREAD],
  },
};
/** So many in a row show that no request goes to a lost replica, which would get half of them. */
const IN_A_ROW = 60;

/** Lets the replica on this node lead: the other one is deleted while no node takes its successor. */
async function leaderOn(name: string, shared: SharedNode, operator: PodOperator): Promise<string> {
  const leader = async (): Promise<PodObject | undefined> => {
    const { pod } = await requestOnce(shared.node, operator.namespace, 'mutating');
    return (await operator.pods()).find(({ metadata }) => metadata.name === pod);
  };
  await operator.kubectl('cordon', 'node1');
  for (const { metadata, spec } of await operator.pods()) {
    if (spec.nodeName !== name) await operator.kubectl('delete', 'pod', metadata.name);
  }
  await expect.poll(async () => (await leader())?.spec.nodeName, SOON).toBe(name);
  await operator.kubectl('uncordon', 'node1');
  await expect.poll(async () => (await operator.pods()).filter(isReady), SOON).toHaveLength(2);
  return (await leader())?.metadata.name ?? '';
}

function isReady({ status }: PodObject): boolean {
  return status.containerStatuses?.[0]?.ready === true;
}

function restarts({ status }: PodObject): number {
  return status.containerStatuses?.[0]?.restartCount ?? 0;
}

async function isEndpoint(operator: PodOperator, pod: string): Promise<boolean> {
  const labels = await operator.kubectl('get', 'pod', pod, '--output=jsonpath={.metadata.labels}');
  return labels.includes('"addon-operator.io/webhooks":"serving"');
}

async function untilAllServed(load: AdmissionLoad): Promise<void> {
  const before = load.results.length;
  const isServed = () => {
    const last = load.results.slice(Math.max(before, load.results.length - IN_A_ROW));
    return last.length === IN_A_ROW && last.every(({ error }) => error === undefined);
  };
  await expect.poll(isServed, SOON).toBe(true);
}
