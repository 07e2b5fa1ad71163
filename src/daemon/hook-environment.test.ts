import { expect, test } from 'vitest';
import { hookEnvironment } from './hook-environment.ts';

const ENV = { PATH: '/bin', LC_ALL: 'C', LC_: 'x', TOKEN: 'secret', LCX: 'y', UNSET: undefined };
const ALLOWED = ['PATH', 'LC_*'];

test('hooks get every variable that is set', () => {
  const { UNSET: _unset, ...set } = ENV;
  expect(hookEnvironment(ENV, { hookEnv: 'all', hookEnvAllowed: ALLOWED })).toEqual(set);
});

test('hooks get only what is on the list, where a star stands for any rest', () => {
  expect(hookEnvironment(ENV, { hookEnv: 'allow-list', hookEnvAllowed: ALLOWED })).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    LC_: 'x',
  });
});
