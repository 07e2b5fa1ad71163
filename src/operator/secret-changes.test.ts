import { expect, test } from 'vitest';
import { failing, moduleFor, operatorLab } from '../../test/support/operator-lab.ts';
import type { ValuesSecrets } from '../values/values-store.ts';
import { onSecretsChange } from './secret-changes.ts';

const secrets: ValuesSecrets = {
  namespace: 'ns',
  isResolvedFor: () => true,
  lookup: () => ({ type: 'known', text: 'hunter2' }),
};
const web = moduleFor('web', 1, {
  staticValues: { token: { valueFrom: { secretKeyRef: { name: 'db', key: 'pw' } } } },
});
const every = (queue: string) => ({ schedule: [{ crontab: '* * * * *', queue }] });

test('hooks of a module that wait in any queue are tried again at once, those of others are not', async () => {
  const hooks = { 'web/a.sh': every('side'), 'dns/a.sh': every('other') };
  await using lab = await operatorLab([web, 'dns'], hooks, { secrets });
  await lab.converge();
  for (const hook of Object.keys(hooks)) {
    lab.behaviours.set(hook, failing);
    lab.tick(hook);
  }
  await lab.settle();
  for (const hook of Object.keys(hooks)) lab.behaviours.delete(hook);
  expect([lab.tasks('side').length, lab.tasks('other').length]).toEqual([1, 1]);
  onSecretsChange(lab.operator, [{ namespace: 'ns', name: 'db', key: 'pw', isOptional: false }]);
  await lab.settle();
  expect([lab.tasks('side').length, lab.tasks('other').length]).toEqual([0, 1]);
});
