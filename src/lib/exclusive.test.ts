import { expect, test } from 'vitest';
import { Exclusive } from './exclusive.ts';

test('Exclusive runs one piece of work after the other, and goes on after a failure', async () => {
  const exclusive = new Exclusive();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = exclusive.run(async () => {
    log.push('first begins');
    await gate.promise;
    log.push('first ends');
    throw new Error('broken');
  });
  const second = exclusive.run(async () => {
    log.push('second');
    return 2;
  });
  gate.resolve();
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe(2);
  expect(log).toStrictEqual(['first begins', 'first ends', 'second']);
});
