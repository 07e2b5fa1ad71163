import { expect, test } from 'vitest';
import { kubeTime } from './kube-time.ts';

test('kubeTime() cuts fractions of seconds', () => {
  expect(kubeTime(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe('2026-01-02T03:04:05Z');
});
