import { expect, test } from 'vitest';
import { disable } from '../../test/support/flow-lab.ts';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { nextItems } from './next-items.ts';

function kinds({ operator }: OperatorLab): readonly string[] {
  const parts = { ...operator, pauses: { of: () => undefined, isOfAll: () => false } };
  return nextItems(parts, 3_600_000).map(({ kind, hook }) => `${kind} ${hook}`);
}

test('ticks of crontabs are announced when the first converge is over, because before they are ignored', async () => {
  await using lab = await operatorLab(['web', 'api'], {
    'web/tick.sh': { schedule: [{ crontab: '* * * * *' }] },
  });
  lab.obstacles.set('deploy api', failing as () => void);
  await lab.converge();
  expect(kinds(lab)).toEqual(['retry ']);
  lab.obstacles.delete('deploy api');
  await lab.pass(60_000, 1);
  expect(kinds(lab)).toEqual(['schedule tick.sh']);
});

test('a check of a module is announced only while the module is enabled or still to be deleted', async () => {
  await using lab = await operatorLab(['web']);
  lab.operator.router.requeues.request(name('web'), 1_000);
  expect(kinds(lab)).toEqual([]);
  await lab.converge();
  lab.operator.router.requeues.request(name('web'), 1_000);
  expect(kinds(lab)).toEqual(['recheck ']);
});

test('a check of a module whose deletion failed is not announced, only the retry', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.obstacles.set('uninstall web', failing as () => void);
  await disable(lab, 'web');
  lab.operator.router.requeues.request(name('web'), 1_000);
  expect(kinds(lab)).toEqual(['retry ']);
  lab.takeCalls();
  await lab.pass(1_000, 1);
  expect(lab.takeCalls()).toEqual([]);
});
