import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { furtherNode } from '../support/api-independent.ts';
import {
  AdmissionLoad,
  createConverted,
  createConvertedKind,
  RESPONDING_HOOK,
  requestOnce,
  WEBHOOK_KINDS,
} from '../support/node/admission-load.ts';
import {
  deleteConvertedKind,
  leadersOf,
  reportResults,
  untilMore,
  untilResponded,
} from '../support/node/admission-waits.ts';
import { describeNode, type SharedNode } from '../support/node/node-suite.ts';
import { PodOperator, RELEASE } from '../support/node/pod-operator.ts';

const SOON = { timeout: 600_000, interval: 200 };
const ROOT = join(import.meta.dirname, '../..');
/** The last commit whose Services of webhooks had other selectors: an upgrade from it changes the most. */
const CHART_BEFORE = 'f2e64f851b33417a7d8bd90c22a2446f26bc4fe5';

describeNode('webhooks through their Service', (node) => {
  beforeAll(async () => await createConvertedKind((await node()).node));
  afterAll(async () => await deleteConvertedKind((await node()).node));

  test('no request fails in a rollout after an upgrade from an older chart and when the leader is deleted, and nothing is refused after an uninstallation', async (context) => {
    const shared = await node();
    const firstChart = await chartBefore(context, shared);
    await using operator = await PodOperator.install(shared, { ...SPEC, firstChart });
    await createConverted(shared.node, operator.namespace);
    await operator.upgrade();
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
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(WEBHOOK_KINDS));
    // A replica that has handed the lease over answers no more.
    const leaders = leadersOf(results);
    expect(leaders).toHaveLength(new Set(leaders).size);
    reportResults('rollout and deleted leader', results);

    await expectLeaderNamed(operator, leaders.at(-1) ?? '');
    await operator.helm('uninstall', RELEASE, '--namespace', operator.namespace, '--wait');
    const unguarded = async () =>
      await Promise.all(
        WEBHOOK_KINDS.map(async (kind) => (await requestOnce(shared.node, operator.namespace, kind)).error),
      );
    await expect
      .poll(unguarded, SOON)
      .toEqual([
        'mutating: 201: no webhook was called',
        'validating: 201: no webhook was called',
        'conversion: 200: no webhook was called',
      ]);
  });

  test(
    'requests fail only until a replica leads, when the process of the leader is killed and after a power cut',
    furtherNode,
    async () => {
      const shared = await node();
      await using operator = await PodOperator.install(shared, SPEC);
      await createConverted(shared.node, operator.namespace);
      await untilResponded(shared, operator);
      await using load = new AdmissionLoad(shared.node, operator);
      await untilMore(load, 100);
      const leader = load.results.at(-1)?.pod ?? '';
      await killContainer(shared, operator.namespace, leader);
      const killedMs = performance.now();
      const served = () => load.results.find(({ startMs, pod }) => startMs > killedMs && pod !== undefined);
      await expect.poll(served, SOON).toBeDefined();
      await untilMore(load, 400);
      const results = await load.stop();
      expect(results.length).toBeGreaterThan(500);
      // The container of the killed process is started again before a replica leads.
      const servedMs = served()?.endMs ?? 0;
      const failedLater = load.failures.filter(({ startMs }) => startMs > servedMs);
      expect(failedLater).toEqual([]);
      reportResults(`killed leader, served again after ${Math.round(servedMs - killedMs)} ms`, results);

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
  files: { 'global-hooks/respond': RESPONDING_HOOK },
  values: { 'webhooks.enabled': true, 'highAvailability.enabled': true },
};

/** The chart of an older commit; a checkout without history has none. */
async function chartBefore(context: TestContext, { node }: SharedNode): Promise<string> {
  const git = async (...args: readonly string[]) =>
    await execa('git', ['-C', ROOT, ...args], { reject: false });
  const { failed } = await git('cat-file', '-e', CHART_BEFORE);
  if (failed) context.skip(`the history of the checkout does not contain ${CHART_BEFORE}`);
  const directory = await mkdtemp(join(node.directory, 'chart-before-'));
  const archive = join(directory, 'chart.tar');
  await git('archive', '--output', archive, CHART_BEFORE, 'deploy/addon-operator');
  await execa('tar', ['--extract', '--file', archive, '--directory', directory]);
  return join(directory, 'deploy/addon-operator');
}

/** A command in the standby says which pod leads and what to run there. */
async function expectLeaderNamed(operator: PodOperator, leader: string): Promise<void> {
  const pods = await operator.pods();
  const standby = pods.map(({ metadata }) => metadata.name).find((name) => name !== leader) ?? '';
  const command = ['exec', standby, '--', 'addon-operator', 'module', 'list'];
  await expect(operator.kubectl(...command)).rejects.toThrow(
    `kubectl -n ${operator.namespace} exec ${leader} -- addon-operator module list`,
  );
}

/** SIGKILL of all processes of a container, from outside of it. */
async function killContainer({ node }: SharedNode, namespace: string, pod: string): Promise<void> {
  const { body } = await node.probe.request({ path: `/api/v1/namespaces/${namespace}/pods/${pod}` });
  const [status] = (body as { status: { containerStatuses: { containerID: string }[] } }).status
    .containerStatuses;
  const id = status?.containerID.replace('containerd://', '') ?? '';
  await node.run('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--all', '--signal', 'SIGKILL', id);
}
