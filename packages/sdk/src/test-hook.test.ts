import { expect, test } from 'vitest';
import { defineHook } from './define-hook.ts';
import { testHook } from './test-hook.ts';

test('testHook() returns what the handler recorded', async () => {
  const hook = defineHook({ kubernetes: [{ name: 'pods', kind: 'Pod' }] }, async (input) => {
    const [context] = input.contexts;
    if (context?.type !== 'Event') return;
    input.values.set('web.name', context.object.metadata.name);
    input.configValues.remove('web.old');
    input.kubernetes.delete({ kind: 'Pod', name: 'one' });
    input.metrics.set('pods', 1);
    input.admission.allow({ patch: [{ op: 'remove', path: '/x' }] });
    input.log.warn('seen', { a: 1 });
  });
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' } };
  const outcome = await testHook(hook, {
    contexts: [{ binding: 'pods', type: 'Event', watchEvent: 'Added', object }],
  });
  expect(outcome).toEqual({
    values: [{ op: 'add', path: '/web/name', value: 'one' }],
    configValues: [{ op: 'remove', path: '/web/old' }],
    kubernetes: [{ operation: 'Delete', kind: 'Pod', name: 'one' }],
    metrics: [{ action: 'set', name: 'pods', value: 1, labels: {} }],
    admission: { allowed: true, warnings: [], patch: [{ op: 'remove', path: '/x' }] },
    conversion: undefined,
    log: [{ level: 'warn', msg: 'seen', a: 1 }],
  });
});

test('testHook() throws what the handler throws', async () => {
  const hook = defineHook({ onStartup: 1 }, () => {
    throw new Error('broken');
  });
  await expect(testHook(hook)).rejects.toThrow('broken');
});

test('testHook() fails as the daemon does when the handler returns something', async () => {
  const hook = defineHook({ onStartup: 1 }, (() => ({ a: 1 })) as never);
  await expect(testHook(hook)).rejects.toThrow('the handler returned a value (object)');
});
