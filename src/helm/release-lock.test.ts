import { expect, test } from 'vitest';
import { createHolder, isLockAlive } from './release-lock.ts';

const self = createHolder('hosta', 100, 'n1');
const MINUTE_MS = 60_000;

function isAlive(holder: string | undefined, ageMs = 0, livePids: readonly number[] = []): boolean {
  const facts = { holder, sinceMs: 1_000, nowMs: 1_000 + ageMs, helmTimeoutMs: 20 * MINUTE_MS };
  return isLockAlive(facts, self, (pid) => livePids.includes(pid));
}

test.each([
  ['our own helm, which we know has ended', 'hosta.100.n1', 0, [100], false],
  ['the operator before us with the same pid, as in a restarted container', 'hosta.100.n0', 0, [100], false],
  ['a dead operator process of this host', 'hosta.90.n0', 0, [], false],
  ['a live operator process of this host', 'hosta.90.n0', 0, [90], true],
  ['an operator of another host: only one may act at a time', 'hostb.90.n0', 0, [90], false],
  ['a person, just now', undefined, 0, [], true],
  ['a person, shortly before the time-out and margin', undefined, 21 * MINUTE_MS - 1, [], true],
  ['a person whose helm must have given up', undefined, 21 * MINUTE_MS, [], false],
])('isLockAlive() judges a release held by %s', (_case, holder, ageMs, livePids, expected) => {
  expect(isAlive(holder, ageMs, livePids)).toBe(expected);
});
