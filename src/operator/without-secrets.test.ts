import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { Redactor } from '../lib/redactor.ts';
import { taskHandler } from './handle-task.ts';
import { withoutSecrets } from './without-secrets.ts';

const SECRET = 'hunter22';

test('withoutSecrets() hides them in failures that move a module into a queue of its own, too', async () => {
  await using lab = await operatorLab(['db'], { 'db/a.sh': { beforeHelm: 1 } }, { failurePolicy: 'isolate' });
  lab.behaviours.set('db/a.sh', () => {
    throw new Error(`the password ${SECRET} is wrong`);
  });
  const redactor = new Redactor();
  redactor.add(SECRET);
  const handle = taskHandler(lab.operator, (attempt) => withoutSecrets(attempt, redactor));
  const signals = { stop: lab.stop.signal, abort: lab.abort.signal };
  const workers = [lab.main.run(handle, signals)];
  lab.operator.router.queueConverge('OperatorStartup', 'test');
  await lab.settle();
  const isolated = lab.operator.queues.get('isolated_db');
  workers.push(isolated.run(handle, signals));
  await lab.settle();
  expect(isolated.entries.map(({ lastError }) => lastError)).toEqual([
    expect.stringContaining('the password *** is wrong'),
  ]);
  lab.stop.abort();
  await Promise.all(workers);
});
