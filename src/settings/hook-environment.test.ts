import { expect, test } from 'vitest';
import { hookEnvironment } from './hook-environment.ts';

const ENV = { PATH: '/bin', LC_ALL: 'C', LC_: 'x', TOKEN: 'secret', LCX: 'y', UNSET: undefined };
const ALLOWED = ['PATH', 'LC_*'];

test('hooks get every variable that is set', () => {
  const { UNSET: _unset, ...set } = ENV;
  expect(hookEnvironment(ENV, { hookEnv: 'all', hookEnvAllowed: ALLOWED, authPolicy: 'none' })).toEqual(set);
});

test('hooks get only what is on the list, where a star means any rest', () => {
  expect(
    hookEnvironment(ENV, { hookEnv: 'allow-list', hookEnvAllowed: ALLOWED, authPolicy: 'none' }),
  ).toEqual({
    PATH: '/bin',
    LC_ALL: 'C',
    LC_: 'x',
  });
});

test('with a policy Python leaves the copies of modules as they are, unless the environment of the operator says otherwise', () => {
  const settings = { hookEnv: 'allow-list', hookEnvAllowed: ['P*'], authPolicy: 'digest' } as const;
  expect(hookEnvironment(ENV, settings)).toEqual({ PATH: '/bin', PYTHONDONTWRITEBYTECODE: '1' });
  const told = { PYTHONDONTWRITEBYTECODE: '' };
  expect(hookEnvironment(told, settings)).toEqual(told);
});

test.each([
  { hookEnv: 'all', hookEnvAllowed: [] },
  { hookEnv: 'allow-list', hookEnvAllowed: ['*', 'DEBUG_HTTP_TOKEN'] },
] as const)('hooks never get credentials of the daemon, with %o', (settings) => {
  const credentials = {
    DEBUG_HTTP_TOKEN: 'a',
    DEBUG_HTTP_TOKEN_FILE: '/b',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=c',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=d',
  };
  const others = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', MY_HEADERS: 'e', KUBE_CONTEXT: 'f' };
  expect(hookEnvironment({ ...credentials, ...others }, { ...settings, authPolicy: 'none' })).toEqual(others);
});
