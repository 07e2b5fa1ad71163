import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from '../lib/errors.ts';
import { Redactor } from '../lib/redactor.ts';
import { taskHandler } from '../operator/handle-task.ts';
import { redactedError, withoutSecrets } from './secret-parts.ts';

const SECRET = 'hunter22';

function redactorOf(secret: string): Redactor {
  const redactor = new Redactor();
  redactor.add(secret);
  return redactor;
}

test('redactedError() gives an error that tells no secret and is treated as the one it stands for', () => {
  const facts = { exitCode: 3 };
  const error = new OperatorError('HOOK_FAILED', `the password ${SECRET} is wrong`, {
    facts,
    isPermanent: true,
    retryAfterMs: 5_000,
  });
  const redacted = redactedError(error, redactorOf(SECRET));
  expect(messageOf(redacted)).toBe('the password *** is wrong');
  expect(redacted).toMatchObject({ code: 'HOOK_FAILED' });
  expect([factsOf(redacted), isPermanent(redacted), retryAfterOf(redacted)]).toEqual([facts, true, 5_000]);
  expect(redactedError(error, redactorOf('another'))).toBe(error);
});

test('withoutSecrets() hides them in failures that move a module into a queue of its own, too', async () => {
  await using lab = await operatorLab(['db'], { 'db/a.sh': { beforeHelm: 1 } }, { failurePolicy: 'isolate' });
  lab.behaviours.set('db/a.sh', () => {
    throw new Error(`the password ${SECRET} is wrong`);
  });
  const redactor = redactorOf(SECRET);
  const handle = taskHandler(lab.operator, (attempt) => withoutSecrets(attempt, redactor));
  const signals = { stop: lab.stop.signal, abort: lab.abort.signal };
  const workers = [lab.main.run(handle, signals)];
  lab.operator.queueConverge('OperatorStartup', 'test');
  await lab.settle();
  const isolated = lab.operator.deps.queues.get('isolated_db');
  workers.push(isolated.run(handle, signals));
  await lab.settle();
  expect(isolated.entries.map(({ lastError }) => lastError)).toEqual([
    expect.stringContaining('the password *** is wrong'),
  ]);
  lab.stop.abort();
  await Promise.all(workers);
});
