import { expect, test } from 'vitest';
import { failing, moduleFor, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { configDifference, parseConfigMapData } from '../values/config-map-content.ts';
import { onConfigChange } from './config-changes.ts';

/** Two modules, the second with an enabled script. */
async function started(): Promise<OperatorLab> {
  const scripted = moduleFor('scripted', 2, { enabledScript: '/modules/scripted/enabled' });
  const lab = await operatorLab(['web', scripted]);
  await lab.converge();
  lab.takeCalls();
  return lab;
}

async function change(lab: OperatorLab, data: Readonly<Record<string, string>>): Promise<void> {
  const content = parseConfigMapData(data);
  const difference = configDifference(lab.content, content);
  lab.content = content;
  onConfigChange(lab.operator, { type: 'changed', content, difference });
  await lab.settle();
}

test('enabled scripts run with new values, and the changed module runs if they agree', async () => {
  await using lab = await started();
  await change(lab, { web: 'x: 1' });
  expect(lab.calls).toEqual(['rediscover', 'deploy web {"x":1}']);
});

test('a script that decides otherwise on the new values causes a converge', async () => {
  await using lab = await started();
  lab.enabled.delete('scripted');
  await change(lab, { scripted: 'off: true' });
  expect(lab.calls).toEqual(['rediscover', 'discover', 'uninstall scripted', 'deploy web']);
});

test('while a script fails, values are taken over and modules stay as they are', async () => {
  await using lab = await started();
  lab.obstacles.set('rediscover', failing as () => void);
  await change(lab, { web: 'x: 1' });
  expect(lab.calls).toEqual(['rediscover']);
  expect(lab.values.moduleValues(name('web'))).toEqual({ x: 1 });
  expect(lab.clock.pendingDelaysMs).toEqual([5_000]);
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.calls).toEqual(['rediscover', 'rediscover', 'deploy web {"x":1}']);
});

test('changes that come while the first waits for its retry are taken over together with it', async () => {
  await using lab = await started();
  lab.obstacles.set('rediscover', failing as () => void);
  await change(lab, { web: 'x: 1' });
  lab.obstacles.clear();
  lab.takeCalls();
  await change(lab, { web: 'x: 1', scripted: 'y: 2' });
  expect(lab.calls).toEqual(['rediscover', 'deploy web {"x":1}', 'deploy scripted {"y":2}']);
  expect(lab.main.length).toBe(0);
});

test('a run that waits after a failure beside main is tried again at once, and no other one is made', async () => {
  const hooks = { 'web/h.sh': { beforeHelm: 1 } };
  await using lab = await operatorLab([moduleFor('web', 1), moduleFor('dns', 1)], hooks, {
    runsModulesInParallel: true,
  });
  lab.behaviours.set('web/h.sh', failing);
  await lab.converge();
  lab.behaviours.delete('web/h.sh');
  lab.takeCalls();
  await change(lab, { web: 'x: 1' });
  expect(lab.calls).toEqual(['web/h.sh beforeHelm', 'deploy web {"x":1}']);
  expect(lab.operator.converge.first).toBe('done');
});
