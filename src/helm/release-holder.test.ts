import { expect, test } from 'vitest';
import { createHolder, isHolderAlive } from './release-holder.ts';

const self = createHolder('hosta', 100, 'n1');

test.each([
  ['our own helm, which we know has ended', 'hosta.100.n1', [100], false],
  ['the operator before us with the same pid, as in a restarted container', 'hosta.100.n0', [100], false],
  ['a dead operator process of this host', 'hosta.90.n0', [], false],
  ['a live operator process of this host', 'hosta.90.n0', [90], true],
  ['an operator of another host: only one may act at a time', 'hostb.90.n0', [90], false],
])('isHolderAlive() judges %s', (_case, token, livePids, expected) => {
  expect(isHolderAlive(token, self, (pid) => livePids.includes(pid))).toBe(expected);
});
