import { expect, test } from 'vitest';
import { name, operatorLab } from '../../test/support/operator-lab.ts';
import { hookPatchViews, hookViews, snapshotViews, watchViews } from './hook-details.ts';

const HOOK = {
  'web/a.sh': {
    beforeHelm: 5,
    schedule: [{ name: 'hourly', crontab: '0 * * * *', queue: 'slow', allowFailure: true }],
    kubernetes: [
      { name: 'pods', kind: 'Pod' },
      { name: 'keys', kind: 'secrets', jqFilter: '.data' },
    ],
  },
  'web/b.sh': { afterHelm: 1 },
};

const object = (kind: string, at: string, more: object = {}) => ({
  object: { apiVersion: 'v1', kind, metadata: { name: at, namespace: 'n' }, ...more },
});

async function convergedLab() {
  const lab = await operatorLab(['web'], HOOK);
  lab.objects.set('web/a.sh/pods', [
    object('Pod', 'one'),
    object('Secret', 'two', { data: { key: 'aHVudGVyMg==' } }),
    object('Pod', 'large', { spec: { text: 'x'.repeat(20_000) } }),
  ]);
  lab.objects.set('web/a.sh/keys', [{ filterResult: { key: 'aHVudGVyMg==' } }]);
  await lab.converge();
  return lab;
}

test('snapshots name their objects, and mask what Secrets contain', async () => {
  await using lab = await convergedLab();
  const views = snapshotViews(lab.operator.registry.tracked.get(name('web'))?.hooks ?? []);
  expect(views).toMatchObject([
    {
      hook: 'a.sh',
      bindings: [
        {
          binding: 'pods',
          kind: 'Pod',
          queue: 'main',
          count: 3,
          problem: null,
          items: [
            { namespace: 'n', name: 'one', content: { kind: 'Pod' } },
            { name: 'two', content: '***' },
            { name: 'large', content: null, length: expect.any(Number) },
          ],
          more: 0,
        },
        { binding: 'keys', count: 1, items: [{ namespace: '', name: '', content: '***' }] },
      ],
    },
  ]);
  expect(JSON.stringify(views)).not.toContain('aHVudGVyMg');
});

test('a large snapshot is listed in part', async () => {
  await using lab = await operatorLab(['web'], HOOK);
  const pods = Array.from({ length: 250 }, (_, index) => object('Pod', `pod-${index}`));
  lab.objects.set('web/a.sh/pods', pods);
  await lab.converge();
  const [view] = snapshotViews([lab.runtimeOf('web/a.sh')]);
  expect(view?.bindings[0]).toMatchObject({ count: 250, more: 50 });
  expect(view?.bindings[0]?.items).toHaveLength(200);
});

test('hooks show what runs them, when, and how that ended', async () => {
  await using lab = await convergedLab();
  const none = { name: '', queue: '', order: null, crontab: '', nextAt: null, kind: '', allowFailure: false };
  const runtimes = ['web/a.sh', 'web/b.sh'].map((hook) => lab.runtimeOf(hook));
  const [first, second] = hookViews(lab.operator, runtimes);
  expect(first).toMatchObject({
    name: 'a.sh',
    transport: 'executable',
    runningMs: null,
    bindings: [
      { ...none, type: 'beforeHelm', name: 'beforeHelm', queue: 'main', order: 5 },
      {
        ...none,
        type: 'schedule',
        name: 'hourly',
        queue: 'slow',
        crontab: '0 * * * *',
        nextAt: '1970-01-01T01:00:00.000Z',
        allowFailure: true,
      },
      { ...none, type: 'kubernetes', name: 'pods', queue: 'main', kind: 'Pod' },
      { ...none, type: 'kubernetes', name: 'keys', queue: 'main', kind: 'secrets' },
    ],
  });
  expect(first?.runs[0]).toMatchObject({ hook: 'a.sh', result: 'success' });
  expect(second).toMatchObject({ name: 'b.sh', runs: [{ hook: 'b.sh', binding: 'afterHelm' }] });
});

test('patches name their hooks', async () => {
  await using lab = await convergedLab();
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/a', value: 1 }], 'a.sh');
  expect(hookPatchViews(lab.values, name('web'))).toEqual([
    { hook: 'a.sh', op: 'add', path: '/web/a', value: 1 },
  ]);
});

test('watches show how old their last news is', async () => {
  await using lab = await convergedLab();
  expect(watchViews([lab.runtimeOf('web/a.sh')], lab.clock)).toMatchObject([
    { module: 'web', hook: 'a.sh', binding: 'pods', kind: 'Pod', problem: null },
    { module: 'web', hook: 'a.sh', binding: 'keys', kind: 'secrets', problem: null },
  ]);
});
