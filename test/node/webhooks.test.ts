import { expect, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import {
  AdmissionLoad,
  type AdmissionResult,
  ANSWERING_HOOK,
  askOnce,
} from '../support/node/admission-load.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { PodOperator } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };

describeNode('webhooks through their Service', (node) => {
  test('no request fails during a rollout of two replicas, and when the leader is deleted', async () => {
    const shared = await node();
    await using operator = await PodOperator.install(shared, SPEC);
    await untilResponded(shared, operator);
    await using load = new AdmissionLoad(shared.node, operator);
    await untilMore(load, 100);

    await operator.upgrade('--set-json', 'podAnnotations={"rollout":"1"}');
    await untilMore(load, 100);
    expect(load.failures).toEqual([]);

    const leader = load.results.at(-1)?.pod;
    const deletedAt = load.results.length;
    await shared.node.probe.expect({
      method: 'DELETE',
      path: `/api/v1/namespaces/${operator.namespace}/pods/${leader}`,
    });
    const isByNext = () =>
      load.results.some(({ pod }, at) => at > deletedAt && ![undefined, leader].includes(pod));
    await expect.poll(isByNext, SOON).toBe(true);
    await untilMore(load, 200);
    const results = await load.stop();
    expect(load.failures).toEqual([]);
    expect(results.length).toBeGreaterThan(500);
    // A replica that has handed the lease over answers no more.
    const leaders = leadersOf(results);
    expect(leaders).toHaveLength(new Set(leaders).size);
    report('rollout and deleted leader', results);
  });

  test(
    'requests fail only until a replica leads, when the process of the leader is killed and after a power cut',
    furtherNode,
    async () => {
      const shared = await node();
      await using operator = await PodOperator.install(shared, SPEC);
      await untilResponded(shared, operator);
      await using load = new AdmissionLoad(shared.node, operator);
      await untilMore(load, 50);
      const leader = load.results.at(-1)?.pod ?? '';
      await killContainer(shared, operator.namespace, leader);
      const killedMs = performance.now();
      const served = () => load.results.find(({ startMs, pod }) => startMs > killedMs && pod !== undefined);
      await expect.poll(served, SOON).toBeDefined();
      await untilMore(load, 100);
      const results = await load.stop();
      // The container of the killed process is started again before a replica leads.
      const servedMs = served()?.endMs ?? 0;
      const failedLater = load.failures.filter(({ startMs }) => startMs > servedMs);
      expect(failedLater).toEqual([]);
      report(`killed leader, served again after ${Math.round(servedMs - killedMs)} ms`, results);

      const cutMs = performance.now();
      await shared.node.powerCut();
      await shared.node.powerOn(new AbortController().signal);
      const onMs = performance.now();
      await untilResponded(shared, operator);
      console.log(
        `power cut: node ready after ${Math.round(onMs - cutMs)} ms, served ${Math.round(performance.now() - onMs)} ms later`,
      );
    },
  );
});

const SPEC = {
  name: 'webhooks',
  files: { 'global-hooks/answer': ANSWERING_HOOK },
  values: { 'webhooks.enabled': true, 'highAvailability.enabled': true },
};

/** The API server learns of a webhook a moment after it was registered. */
async function untilResponded({ node }: SharedNode, { namespace }: PodOperator): Promise<void> {
  await expect.poll(async () => await askOnce(node, namespace), SOON).toMatchObject({ error: undefined });
}

async function untilMore(load: AdmissionLoad, count: number): Promise<void> {
  const target = load.results.length + count;
  await expect.poll(() => load.results.length, SOON).toBeGreaterThan(target);
}

function report(what: string, results: readonly AdmissionResult[]): void {
  const longestMs = Math.max(...results.map(({ startMs, endMs }) => endMs - startMs));
  const errors = results.flatMap(({ error }) => error ?? []);
  console.log(
    `${what}: ${results.length} requests, longest ${Math.round(longestMs)} ms, ${errors.length} failed ${[...new Set(errors)].join('; ')}`,
  );
}

function leadersOf(results: readonly AdmissionResult[]): readonly string[] {
  const pods = results.flatMap(({ pod }) => pod ?? []);
  return pods.filter((pod, index) => pod !== pods[index - 1]);
}

/** SIGKILL of all processes of a container, from outside of it. */
async function killContainer({ node }: SharedNode, namespace: string, pod: string): Promise<void> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/pods/${pod}` });
  const [status] = (body as { status: { containerStatuses: { containerID: string }[] } }).status
    .containerStatuses;
  const id = status?.containerID.replace('containerd://', '') ?? '';
  await node.run('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--all', '--signal', 'SIGKILL', id);
}
