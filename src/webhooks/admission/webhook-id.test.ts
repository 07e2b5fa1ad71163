import { expect, test } from 'vitest';
import { webhookId } from './webhook-id.ts';

test.each([
  ['my-crd.example.com', 'my-crd-example-com'],
  ['a.example.com', 'a-example-com'],
  ['checkPods.Example.com', 'check-pods-example-com'],
  ['a__b..c', 'a-b-c'],
  ['a/b.c', 'a/b-c'],
])('%s becomes %s', (name, id) => {
  expect(webhookId(name)).toBe(id);
});
