import { Redactor } from '@addon-operator/masking/redactor';
import { expect, test } from 'vitest';
import { daemonView, moduleView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { type DebugEndpoint, debugHandler } from '../debug-routes.ts';

const SECRET = 'hunter2-"quoted"';
const never = new AbortController().signal;

test('a secret in values, patches, snapshots, drift, differences and errors is in no response', async () => {
  const redactor = new Redactor();
  redactor.add(SECRET);
  const drifted = { resource: 'n/Pod/a', fields: [SECRET], changedBy: [SECRET], since: '', outlook: SECRET };
  const item = { namespace: 'n', name: 'a', content: { a: [SECRET] }, length: 1 };
  const counts = { count: 1, added: 0, modified: 0, deleted: 0, more: 0, problem: SECRET };
  const section = {
    layeredValues: () =>
      [
        {
          pointer: `/${SECRET}`,
          value: SECRET,
          layer: 'files',
          hook: '',
          below: [{ layer: 'default', value: SECRET }],
        },
      ] as const,
    hookPatches: () => [{ hook: 'a', op: 'add', path: '/web/a', value: { a: SECRET } }],
    hookSnapshots: () => [
      { hook: 'a', bindings: [{ binding: 'b', kind: 'Pod', queue: 'main', ...counts, items: [item] }] },
    ],
  };
  const revision = {
    revision: 1,
    status: 'failed',
    outcome: 'failed',
    reason: SECRET,
    version: '',
    files: null,
    hasSection: false,
    deployedAt: null,
    chart: '',
    description: SECRET,
  };
  const web = moduleView({
    ...section,
    drift: () => ({ mode: 'warn', objects: [drifted] }),
    history: async () => [revision],
    compareRevisions: async () => `-${SECRET}`,
    changes: async () => `+${SECRET}\n# ${SECRET}\n`,
  });
  const view = daemonView({
    module: () => web,
    watches: () => [{ module: '', hook: 'a', binding: 'b', kind: 'Pod', ageMs: null, problem: SECRET }],
    taskQueues: () => {
      throw new Error(`no queues: ${SECRET}`);
    },
  });
  const list = () => [{ name: 'a', description: '', default: '', value: SECRET }];
  const endpoint: DebugEndpoint = {
    view,
    ...NO_COMMANDS,
    redactor,
    parameters: { list, set: () => undefined },
  };
  const handle = debugHandler(endpoint, true);
  for (const path of [
    '/modules/web/values',
    '/modules/web/patches',
    '/modules/web/snapshots',
    '/modules/web/drift',
    '/modules/web/history',
    '/modules/web/history?from=1&to=2',
    '/modules/web/diff',
    '/about',
    '/queues',
  ]) {
    const url = new URL(`http://operator/api/v1${path}`);
    const request = { method: 'GET', path: url.pathname, query: url.searchParams, body: '' };
    const { body } = await handle(request, never);
    expect([path, body.includes('hunter2'), body.includes('***')]).toEqual([path, false, true]);
  }
});
