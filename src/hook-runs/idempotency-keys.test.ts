import { expect, test } from 'vitest';
import { IdempotencyKeys } from './idempotency-keys.ts';

test('a key stays the same for the work of a task until that succeeds', () => {
  const keys = new IdempotencyKeys();
  const task = {};
  const first = keys.of(task, 'a');
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys.of(task, 'a')).toBe(first);
  keys.succeeded(task, 'a');
  expect(keys.of(task, 'a')).not.toBe(first);
});

test('other tasks, and other work of the same task, have other keys', () => {
  const keys = new IdempotencyKeys();
  const [one, two] = [{}, {}];
  const all = [keys.of(one, 'a'), keys.of(one, 'b'), keys.of(two, 'a')];
  expect(new Set(all).size).toBe(3);
  keys.succeeded(one, 'b');
  expect(keys.of(one, 'a')).toBe(all[0]);
});
