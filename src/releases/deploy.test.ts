import { OperatorError } from '@addon-operator/base/errors';
import { expect, test } from 'vitest';
import { configMap, DeployLab, labelsOfHolder } from '../../test/support/deploy-lab.ts';
import type { DeployRequest, DeployResult } from './deploy.ts';
import type { ReleaseSteps } from './release-steps.ts';

const MINUTE_MS = 60_000;
const UPGRADE = 'upgrade --install';
const REPLACE = 'install --replace';
const GARBAGE = 'no release';

/** Steps that change nothing. */
const steps: ReleaseSteps = {
  digest: '',
  isOpen: false,
  transform: async (objects) => objects,
  beforeApply: async () => undefined,
  afterApply: async () => undefined,
};

const deployed = async (lab: DeployLab): Promise<void> => {
  await lab.deploy();
  lab.helmRuns.length = 0;
};

interface Case {
  readonly name: string;
  readonly given?: (lab: DeployLab) => Promise<unknown>;
  readonly request?: Partial<DeployRequest>;
  readonly expected: Partial<DeployResult> | { readonly code: string; readonly message?: unknown };
  /** Commands of helm; default: none. */
  readonly helm?: readonly string[];
  readonly records: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'a release that does not exist is installed',
    expected: { action: 'installed', reason: 'there is no release', revision: 1 },
    helm: [UPGRADE],
    records: ['v1 deployed'],
  },
  {
    name: 'an unchanged release is skipped without helm',
    given: deployed,
    expected: { action: 'skipped', reason: 'nothing changed', revision: 1 },
    records: ['v1 deployed'],
  },
  {
    name: 'an unchanged release is skipped by what was read for all modules',
    given: async (lab) => {
      await deployed(lab);
      await lab.readAll();
    },
    request: { mayShareReads: true },
    expected: { action: 'skipped', reason: 'nothing changed', revision: 1 },
    records: ['v1 deployed'],
  },
  {
    name: 'an unchanged release is upgraded when one of its objects is missing',
    given: async (lab) => {
      await deployed(lab);
      await lab.deleteObject('a');
    },
    expected: { action: 'upgraded', reason: '/ConfigMap/a is missing', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'an object that is missing is found although reads are shared',
    given: async (lab) => {
      await deployed(lab);
      await lab.readAll();
      await lab.deleteObject('a');
    },
    request: { mayShareReads: true },
    expected: { action: 'upgraded', reason: '/ConfigMap/a is missing', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'a changed chart is deployed',
    given: async (lab) => {
      await deployed(lab);
      await lab.put({ 'templates/a.yaml': configMap('a', 'second') });
    },
    expected: { action: 'upgraded', reason: 'inputs changed', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'a change that is not rendered ends after the rendering',
    given: deployed,
    request: { values: { unused: 1 } },
    expected: { action: 'skipped', reason: 'its rendered manifests are already deployed', revision: 1 },
    helm: [UPGRADE],
    records: ['v1 deployed'],
  },
  {
    name: 'a change that is not rendered is remembered, so that helm is not started again',
    given: async (lab) => {
      await deployed(lab);
      await lab.deploy({ values: { unused: 1 } });
      lab.helmRuns.length = 0;
    },
    request: { values: { unused: 1 } },
    expected: { action: 'skipped', reason: 'nothing changed', revision: 1 },
    records: ['v1 deployed'],
  },
  {
    name: 'a chart that reads the cluster is rendered each time',
    given: async (lab) => {
      await lab.put({ 'templates/b.yaml': '# {{ lookup "v1" "Secret" "" "" }}\n' });
      await deployed(lab);
    },
    expected: { action: 'skipped', reason: 'its rendered manifests are already deployed', revision: 1 },
    helm: [UPGRADE],
    records: ['v1 deployed'],
  },
  {
    name: 'an unchanged release is upgraded on request',
    given: deployed,
    request: { isForced: true },
    expected: { action: 'upgraded', reason: 'it was requested', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'a release of another helm client is adopted',
    given: (lab) => lab.addRecord(1, { status: 'deployed' }),
    expected: { action: 'upgraded', reason: 'another helm client created the last revision', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'a failed upgrade is followed by an upgrade',
    given: async (lab) => {
      await deployed(lab);
      await lab.addRecord(2, { status: 'failed' });
    },
    expected: { action: 'upgraded', reason: 'last release is failed', revision: 3 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 failed', 'v3 deployed'],
  },
  {
    name: 'a failed first install is followed by an install',
    given: (lab) => lab.addRecord(1, { status: 'failed' }),
    expected: { action: 'installed', reason: 'last release is failed', revision: 2 },
    helm: [REPLACE],
    records: ['v1 failed', 'v2 deployed'],
  },
  {
    name: 'an uninstalled release whose records were kept is installed',
    given: (lab) => lab.addRecord(1, { status: 'uninstalled' }),
    expected: { action: 'installed', reason: 'there is no release', revision: 2 },
    helm: [REPLACE],
    records: ['v1 uninstalled', 'v2 deployed'],
  },
  {
    name: 'a release that a dead process of this operator has left is marked failed and upgraded',
    given: async (lab) => {
      await deployed(lab);
      await lab.addRecord(2, { status: 'pending-upgrade', labels: labelsOfHolder(2, 'other.1.gone') });
    },
    expected: { action: 'upgraded', reason: 'last release was left pending-upgrade', revision: 3 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 failed', 'v3 deployed'],
  },
  {
    name: 'a release that another process of this operator works on is locked',
    given: (lab) =>
      lab.addRecord(1, { status: 'pending-install', labels: labelsOfHolder(1, `host.${process.pid}.other`) }),
    expected: { code: 'HELM_LOCKED', message: expect.stringContaining('another addon-operator process') },
    records: ['v1 pending-install'],
  },
  {
    name: 'a release that another helm client works on is locked',
    given: (lab) => lab.addRecord(1, { status: 'pending-install' }),
    expected: { code: 'HELM_LOCKED', message: expect.stringContaining('another helm process') },
    records: ['v1 pending-install'],
  },
  {
    name: 'the lock of another helm client is taken over when its time limit has passed',
    given: async (lab) => {
      await deployed(lab);
      await lab.addRecord(2, { status: 'pending-upgrade' });
      await expect(lab.deploy()).rejects.toMatchObject({ code: 'HELM_LOCKED' });
      await lab.clock.advance(21 * MINUTE_MS);
    },
    expected: { action: 'upgraded', reason: 'last release was left pending-upgrade', revision: 3 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 failed', 'v3 deployed'],
  },
  {
    name: 'an unreadable record is moved aside, and the release continues from the one before',
    given: async (lab) => {
      await deployed(lab);
      await lab.addRecord(2, { status: 'deployed', content: GARBAGE });
    },
    expected: { action: 'skipped', reason: 'nothing changed', revision: 1 },
    records: ['v1 deployed', 'v2 unreadable'],
  },
  {
    name: 'several unreadable records are moved aside, and the release is installed',
    given: async (lab) => {
      for (const revision of [1, 2, 3]) await lab.addRecord(revision, { status: 'failed', content: GARBAGE });
    },
    expected: { action: 'installed', reason: 'there is no release', revision: 1 },
    helm: [UPGRADE],
    records: ['v1 deployed', 'v1 unreadable', 'v2 unreadable', 'v3 unreadable'],
  },
  {
    name: 'an unreadable record that cannot be removed ends the deployment',
    given: (lab) =>
      lab.addRecord(1, { status: 'failed', content: GARBAGE, finalizers: ['example.com/backup'] }),
    expected: {
      code: 'HELM_RELEASE_CORRUPT',
      message: expect.stringContaining('record of release "web" cannot be read'),
    },
    records: ['v1 failed', 'v1 unreadable'],
  },
  {
    name: 'a helm that fails before it applies is started again at once',
    given: async (lab) => lab.helmEnds.push('cannot render'),
    expected: { action: 'installed', revision: 1 },
    helm: [UPGRADE, UPGRADE],
    records: ['v1 deployed'],
  },
  {
    name: 'a helm that fails while it applies is started again at once, over its failed install',
    given: async (lab) => lab.helmEnds.push('cannot apply'),
    expected: { action: 'installed', reason: 'last release is failed', revision: 2 },
    helm: [UPGRADE, REPLACE],
    records: ['v1 failed', 'v2 deployed'],
  },
  {
    name: 'a helm that fails twice fails the deployment',
    given: async (lab) => lab.helmEnds.push('cannot apply', 'cannot render'),
    expected: {
      code: 'HELM_FAILED',
      message: 'Cannot deploy release "web": run helm install: no template "x"',
    },
    helm: [UPGRADE, REPLACE],
    records: ['v1 failed'],
  },
  {
    name: 'a helm that took all its time is not started again',
    given: async (lab) => lab.helmEnds.push('times out'),
    expected: { code: 'HELM_FAILED', message: expect.stringContaining('did not end within') },
    helm: [UPGRADE],
    records: [],
  },
  {
    name: 'a helm that failed is not started again when the steps have to be repeated too',
    given: async (lab) => lab.helmEnds.push('cannot apply'),
    request: { steps: { ...steps, isTriedOnce: true } },
    expected: { code: 'HELM_FAILED', message: 'Cannot deploy release "web": services is full' },
    helm: [UPGRADE],
    records: ['v1 failed'],
  },
  {
    name: 'a helm that failed is not started again after an error that a step calls permanent',
    given: async (lab) => lab.helmEnds.push('cannot apply'),
    request: {
      steps: {
        ...steps,
        onFailure: async () => new OperatorError('HOOK_FAILED', 'not today', { isPermanent: true }),
      },
    },
    expected: { code: 'HOOK_FAILED', message: 'not today' },
    helm: [UPGRADE],
    records: ['v1 failed'],
  },
  {
    name: 'an unmanaged release that is not labelled yet is deployed once more',
    given: deployed,
    request: { isUnmanaged: true },
    expected: { action: 'upgraded', reason: 'inputs changed', revision: 2 },
    helm: [UPGRADE],
    records: ['v1 superseded', 'v2 deployed'],
  },
  {
    name: 'an unmanaged release is skipped, regardless of its chart',
    given: async (lab) => {
      await lab.deploy({ isUnmanaged: true });
      lab.helmRuns.length = 0;
      await lab.put({ 'templates/a.yaml': configMap('a', 'second') });
    },
    request: { isUnmanaged: true },
    expected: { action: 'skipped', reason: 'the release is unmanaged', revision: 1 },
    records: ['v1 deployed'],
  },
  {
    name: 'an object of another release fails the deployment before anything is applied',
    given: (lab) =>
      lab.request({
        method: 'POST',
        path: '/api/v1/namespaces/ops/configmaps',
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: 'a',
            annotations: { 'meta.helm.sh/release-name': 'api', 'meta.helm.sh/release-namespace': 'ops' },
          },
        },
      }),
    expected: {
      code: 'HELM_FAILED',
      message: expect.stringContaining('/ConfigMap/a of release ops/api'),
    },
    helm: [UPGRADE],
    records: [],
  },
  {
    name: 'a module that is no chart is invalid',
    given: (lab) => lab.put({ 'Chart.yaml': undefined, templates: undefined }),
    expected: { code: 'MODULE_INVALID' },
    records: [],
  },
];

test.each(CASES.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
  const { given, request, expected, helm = [], records } = one;
  await using lab = await DeployLab.open();
  await given?.(lab);
  const outcome = await lab.deploy(request).catch((error: unknown) => error);
  expect(outcome).toMatchObject(expected);
  expect(lab.helmRuns).toEqual(helm);
  expect(await lab.records()).toEqual(records);
});

test('a deployment that is aborted while helm runs ends with the reason', async () => {
  await using lab = await DeployLab.open();
  const stop = new AbortController();
  const reason = new Error('the operator stops');
  lab.onHelm = () => stop.abort(reason);
  await expect(lab.deploy({}, stop.signal)).rejects.toBe(reason);
  expect(lab.helmRuns).toEqual([UPGRADE]);
});
