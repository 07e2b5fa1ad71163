import { describe, expect, test } from 'vitest';
import { v1 } from '../../test/support/hook-configs.ts';
import { failing, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { startUp } from '../operator/lifecycle.ts';
import { describeEdit, planEdit } from './edited-hooks.ts';

const PODS = { kind: 'Pod', name: 'pods' };

describe('the plan after an edit', () => {
  test.each([
    ['onStartup', { onStartup: 1 }, 'runs again now (onStartup)'],
    [
      'onStartup and bindings',
      { onStartup: 1, kubernetes: [PODS] },
      'runs again now (onStartup, Synchronization of pods)',
    ],
    [
      'beforeHelm',
      { beforeHelm: 1, afterHelm: 1 },
      'runs in the converge that follows (beforeHelm, afterHelm)',
    ],
    [
      'a binding without Synchronization',
      { kubernetes: [{ ...PODS, executeHookOnSynchronization: false }] },
      'is used at the next run (pods)',
    ],
    [
      'deletions and schedules',
      { afterDeleteHelm: 1, schedule: [{ name: 'nightly', crontab: '0 3 * * *' }] },
      'is used at the next run (afterDeleteHelm, nightly)',
    ],
    [
      'everything',
      { onStartup: 1, beforeHelm: 1, schedule: [{ name: 'nightly', crontab: '0 3 * * *' }] },
      'runs again now (onStartup), runs in the converge that follows (beforeHelm), is used at the next run (nightly)',
    ],
  ])('of a hook with %s says what runs when', async (_what, config, text) => {
    expect(describeEdit(planEdit(await v1(config, 'module'), () => false))).toBe(text);
  });

  test('leaves out what will run anyway', async () => {
    const config = await v1({ onStartup: 1, kubernetes: [PODS] }, 'module');
    expect(describeEdit(planEdit(config, ({ type }) => type === 'lifecycle'))).toBe(
      'runs again now (Synchronization of pods)',
    );
    expect(describeEdit(planEdit(config, () => true))).toBe('is used at its run, which is pending');
  });
});

async function save(lab: OperatorLab, ...paths: readonly string[]): Promise<void> {
  lab.takeCalls();
  const saved = paths.map((path) => ({ path, real: path }));
  lab.main.prepend({ type: 'ReloadFiles', saved, trigger: 'Files-Changed' });
  lab.main.cutDelay();
  await lab.settle();
}

const ran = (lab: OperatorLab): readonly string[] => lab.calls.filter((call) => call.includes('.sh '));

describe('an edited hook', () => {
  test('of a module runs onStartup and its Synchronization again, before the converge; others do not', async () => {
    const both = { onStartup: 1, beforeHelm: 1, kubernetes: [PODS, { ...PODS, name: 'own', queue: 'own' }] };
    await using lab = await operatorLab(['web'], { 'web/a.sh': both, 'web/b.sh': both });
    await lab.converge();
    await save(lab, '/web/a.sh');
    expect(ran(lab).filter((call) => call !== 'web/a.sh Synchronization:own')).toEqual([
      'web/a.sh onStartup',
      'web/a.sh Synchronization:pods',
      'web/a.sh beforeHelm',
      'web/b.sh beforeHelm',
    ]);
    expect(ran(lab).filter((call) => call === 'web/a.sh Synchronization:own')).toHaveLength(1);
    expect(lab.log.records).toContainEqual(
      expect.objectContaining({
        files: ['a.sh'],
        effect:
          'hook web/a.sh runs again now (onStartup, Synchronization of pods, Synchronization of own), runs in the converge that follows (beforeHelm)',
      }),
    );
  });

  test('that is global runs again', async () => {
    await using lab = await operatorLab([], { 'global/a.sh': { onStartup: 1, kubernetes: [PODS] } });
    startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
    await lab.settle();
    await save(lab, '/global/a.sh');
    expect(ran(lab)).toEqual(['global/a.sh onStartup', 'global/a.sh Synchronization:pods']);
  });

  test('does not run for events, ticks and deletions that did not happen', async () => {
    const config = {
      afterDeleteHelm: 1,
      schedule: [{ crontab: '* * * * *' }],
      kubernetes: [{ ...PODS, executeHookOnSynchronization: false }],
    };
    await using lab = await operatorLab(['web'], { 'web/a.sh': config });
    await lab.converge();
    await save(lab, '/web/a.sh');
    expect(ran(lab)).toEqual([]);
  });

  test('that changes values in its Synchronization leads to a run of its module', async () => {
    await using lab = await operatorLab(['web'], { 'web/a.sh': { kubernetes: [{ ...PODS, queue: 'own' }] } });
    await lab.converge();
    lab.behaviours.set('web/a.sh', ({ write }) => {
      write('VALUES_JSON_PATCH_PATH', [{ op: 'add', path: '/web/edited', value: true }]);
    });
    await save(lab, '/web/a.sh');
    expect(lab.calls.at(-1)).toMatch(/deploy web .*edited/);
  });

  test('that failed is tried at once in its own queue, and once', async () => {
    await using lab = await operatorLab(['web'], {
      'web/a.sh': { kubernetes: [{ ...PODS, queue: 'own', waitForSynchronization: false }] },
    });
    lab.behaviours.set('web/a.sh', failing);
    await lab.converge();
    expect(lab.tasks('own')).toHaveLength(1);
    lab.behaviours.clear();
    await save(lab, '/web/a.sh');
    expect(ran(lab)).toEqual(['web/a.sh Synchronization:pods']);
    expect(lab.tasks('own')).toEqual([]);
  });

  test('that fails in main is tried with the next file that is saved, whichever that is', async () => {
    await using lab = await operatorLab(['web'], { 'web/a.sh': { kubernetes: [PODS] } });
    await lab.converge();
    lab.behaviours.set('web/a.sh', failing);
    await save(lab, '/web/a.sh');
    lab.behaviours.clear();
    await save(lab, '/web/lib/common.sh');
    expect(ran(lab)).toEqual(['web/a.sh Synchronization:pods']);
  });
});
