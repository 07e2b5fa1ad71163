import type { ReleaseHistory } from '@addon-operator/helm/release-history';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { daemonView, moduleView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { failing, name, operatorLab } from '../../../test/support/operator-lab.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import { createView } from '../../views/operator-view.ts';
import { apiResponse } from './api-handler.ts';
import { trustedRequester } from './requester.ts';
import { API_SCHEMAS } from './schemas.ts';

const HISTORY: ReleaseHistory = {
  list: async () => [
    {
      revision: 2,
      status: 'deployed',
      outcome: 'running',
      reason: '',
      version: '1.0.0',
      files: null,
      hasSection: false,
      deployedAt: null,
      chart: 'web-1.0.0',
      description: 'Upgrade complete',
    },
  ],
  source: async () => undefined,
  manifest: async (_release, revision) => (revision > 2 ? undefined : `r${revision}`),
};

type ViewDeps = Parameters<typeof createView>[0];

const VERSION = { version: '1.0.0', digest: 'sha256:00', atMs: 0 };

/** Module db comes from a source that is away, and an update of it waits. */
const DELIVERY: NonNullable<ViewDeps['delivery']> & NonNullable<ViewDeps['operator']['delivery']> = {
  history: () => [{ ...VERSION, outcome: 'running', hasValues: true }],
  updateOf: (module) =>
    module === 'db'
      ? {
          pending: {
            type: 'pending',
            version: '1.1.0',
            digest: undefined,
            reason: 'Held',
            message: 'freeze',
            untilMs: 60_000,
            sinceMs: 0,
          },
          isFirst: false,
        }
      : undefined,
  view: () => ({
    sources: [
      {
        name: 'platform',
        generation: 1,
        url: 'oci://registry.example.com/platform',
        invalid: undefined,
        problem: 'connection refused',
        lastSuccessMs: 0,
        lastAttemptMs: 0,
        modules: 1,
      },
    ],
    installs: [
      {
        name: 'db',
        generation: 1,
        source: 'platform',
        invalid: undefined,
        installed: VERSION,
        lastGood: VERSION,
        wanted: { version: '1.1.0', digest: undefined },
        pending: undefined,
        failed: [{ ...VERSION, why: 'gates' }],
        hasFailed: false,
        history: [],
        isUpdating: false,
        waitsFor: undefined,
        missing: undefined,
        problem: undefined,
        sourceProblem: 'connection refused',
        notReady: undefined,
        disabled: undefined,
        isOrphan: false,
      },
    ],
  }),
};

const PARAMETER = { name: 'a', description: 'b', default: '1', value: '2', expiresAtMs: 0 };

const ajv = new Ajv({ strictTypes: false, formats: { 'date-time': true } });

async function request(target: string, view: DaemonView = daemonView(), method = 'GET') {
  const url = new URL(target, 'http://operator');
  const { signal } = new AbortController();
  const asked = { method, path: `/api/v1${url.pathname}`, query: url.searchParams };
  const parts = { view, identity: NO_COMMANDS.identity, parameters: { list: () => [PARAMETER] } };
  const response = await apiResponse(parts, asked, trustedRequester('test'), signal);
  return { status: response.status, code: response.code, data: JSON.parse(response.body) as unknown };
}

test('real responses match the schemas', async () => {
  const hooks = {
    'web/a.sh': {
      beforeHelm: 1,
      schedule: [{ crontab: '0 * * * *', name: 'hourly' }],
      kubernetes: [{ name: 'pods', kind: 'Pod' }],
    },
    'db/b.sh': { beforeHelm: 1 },
  };
  await using lab = await operatorLab(['web', 'db'], hooks);
  const view = createView({
    operator: { ...lab.operator, delivery: DELIVERY },
    health: { outage: undefined },
    journal: lab.journal,
    values: lab.values,
    memory: lab.operator.memory,
    extensions: lab.operator.extensions,
    helm: {
      history: HISTORY,
      render: async () => '',
      manifest: async () => '',
    } as unknown as ViewDeps['helm'],
    namespace: 'n',
    delivery: DELIVERY,
    readObjects: async () => ({ objects: [], eventsProblem: '' }),
    compare: async () => '--- a\n+++ b\n+c\n# n/Pod/a cannot be compared: no access\n',
    compareRevisions: (from, to) => `${from.manifest}-${to.manifest}`,
    patchAccess: () => [],
  });
  const metadata = { name: 'one', namespace: 'n' };
  lab.objects.set('web/a.sh/pods', [{ object: { apiVersion: 'v1', kind: 'Pod', metadata } }]);
  await lab.converge();
  lab.behaviours.set('db/b.sh', failing);
  lab.operator.router.queueModuleRun(name('db'), 'change');
  await lab.settle();
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/a', value: [1] }], 'a.sh');
  lab.pauses.set('web', { reason: 'disks', sinceMs: 0, untilMs: 60_000 });
  lab.operator.router.queueModuleRun(name('web'), 'change');
  for (const [target, schema] of [
    ['/now', 'now'],
    ['/queues', 'queues'],
    ['/modules', 'modules'],
    ['/modules/web', 'module'],
    ['/modules/db', 'module'],
    ['/modules/web/values', 'module-values'],
    ['/modules/global/values', 'module-values'],
    ['/modules/web/patches', 'module-patches'],
    ['/modules/web/snapshots', 'module-snapshots'],
    ['/modules/web/hooks', 'module-hooks'],
    ['/modules/global/hooks', 'module-hooks'],
    ['/modules/web/drift', 'module-drift'],
    ['/modules/db/changed', 'module-changed'],
    ['/modules/web/objects', 'module-objects'],
    ['/modules/web/history', 'module-history'],
    ['/modules/web/history?from=1&to=2', 'module-history'],
    ['/modules/web/diff', 'module-diff'],
    ['/delivery', 'delivery'],
    ['/graph', 'graph'],
    ['/about', 'about'],
    ['/runs', 'runs'],
    ['/runs?module=db&result=failed&limit=1', 'runs'],
    ['/runs?type=ModuleRun', 'runs'],
    ['/timeline?hours=2', 'timeline'],
    ['/runs/2', 'run'],
    ['/events/2', 'event'],
    ['/events/none', 'error'],
    ['/next?hours=1', 'next'],
    ['/nothing', 'error'],
  ] as const) {
    const { data } = await request(target, view);
    const isValid = ajv.compile(API_SCHEMAS[schema] ?? false);
    expect([target, isValid(data), isValid.errors]).toEqual([target, true, null]);
  }
  expect((await request('/next', view)).data).toMatchObject({
    items: [
      { kind: 'retry', module: 'db', at: '1970-01-01T00:00:05.000Z' },
      { kind: 'pause-end', module: 'web', at: '1970-01-01T00:01:00.000Z' },
      { kind: 'schedule', module: 'web', hook: 'a.sh', crontab: '0 * * * *', at: '1970-01-01T01:00:00.000Z' },
    ],
  });
  expect((await request('/modules', view)).data).toMatchObject({
    modules: [
      { module: 'web', recent: 's', lastRun: { durationMs: 0 } },
      {
        module: 'db',
        recent: 'sf',
        lastRun: { durationMs: 0 },
        update: { version: '1.1.0', reason: 'Held', needs: 'decision', until: '1970-01-01T00:01:00.000Z' },
      },
    ],
  });
});

test('two revisions are compared, and notes of a difference are apart from it', async () => {
  const changes = async () => '# open\n--- a\n+++ b\n+c\n';
  const compareRevisions = async ({ from, to }: { readonly from: number; readonly to: number }) =>
    to === 9 ? undefined : `from ${from} to ${to}`;
  const web = moduleView({ changes, compareRevisions });
  const view = daemonView({ module: () => web });
  expect((await request('/modules/web/diff', view)).data).toEqual({
    module: 'web',
    text: '--- a\n+++ b\n+c\n',
    notes: ['open'],
    tookMs: 0,
  });
  const query = '/modules/web/history?from=1&to=';
  expect((await request(`${query}2`, view)).data).toMatchObject({
    diff: { from: 1, to: 2, text: 'from 1 to 2' },
  });
  expect(await request(`${query}9`, view)).toMatchObject({
    status: 404,
    data: { error: { message: 'there are no revisions 1 and 9: they may be too old' } },
  });
  expect(await request('/modules/web/history?from=1', view)).toMatchObject({ status: 400 });
});

test.each([
  ['/nothing', 404, 'REQUEST_INVALID', 'there is no /api/v1/nothing'],
  ['/runs?modul=web', 400, 'REQUEST_INVALID', 'unknown query parameter "modul" (did you mean "module"?)'],
  ['/runs?module=a&module=b', 400, 'REQUEST_INVALID', 'query parameter "module" is given more than once'],
  ['/runs?limit=0', 400, 'REQUEST_INVALID', '"limit" must be a whole number from 1 to 500'],
  [
    '/runs?result=good',
    400,
    'REQUEST_INVALID',
    '"result" must be one of success, failed, repeat, skipped, aborted, running',
  ],
  ['/next?hours=1e3', 400, 'REQUEST_INVALID', '"hours" must be a whole number from 1 to 8784'],
  ['/runs/7', 404, 'REQUEST_INVALID', 'there is no run 7: it may be too old'],
  ['/modules/no', 404, 'MODULE_UNKNOWN', 'there is no module no'],
  ['/modules/no/values', 404, 'MODULE_UNKNOWN', 'there is no module no'],
  ['/modules/global/drift', 404, 'MODULE_UNKNOWN', 'there is no module global'],
])('%s is refused', async (target, status, code, message) => {
  expect(await request(target)).toEqual({ status, code, data: { error: { code, message } } });
});

test('what can only be read takes no POST', async () => {
  expect(await request('/now', daemonView(), 'POST')).toMatchObject({ status: 405 });
});

test('an internal failure is a response with its message', async () => {
  const view = daemonView({
    taskQueues: () => {
      throw new Error('no queues');
    },
  });
  expect(await request('/queues', view)).toMatchObject({
    status: 500,
    data: { error: { code: 'INTERNAL', message: 'no queues' } },
  });
});
