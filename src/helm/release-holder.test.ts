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

test('isHolderAlive() asks for the process that began when the holder did', () => {
  const asked: unknown[] = [];
  const isAlive = (pid: number, start: string | undefined): boolean => asked.push([pid, start]) > 0;
  const { token } = createHolder('hosta', 90, 'n0', '4711');
  expect(token).toBe('hosta.90.n0-4711');
  isHolderAlive(token, self, isAlive);
  isHolderAlive('hosta.90.n0', self, isAlive);
  expect(asked).toEqual([
    [90, '4711'],
    [90, undefined],
  ]);
});
