import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import type { RunningServer } from '@addon-operator/http-server/serve';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import type { CliHost } from '../cli-host.ts';
import { operatorSettings } from './operator-settings.ts';

const OF_OPERATOR = { namespace: 'ops', configMapName: 'values', kubeConfig: '/of/operator' };
let cwd = '';
let server: RunningServer | undefined;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'operator-settings-'));
  mkdirSync(join(cwd, '.sandbox'));
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  rmSync(cwd, { recursive: true });
});

const socketOfSandbox = (): string => join(cwd, '.sandbox/debug.socket');
const socketElsewhere = (): string => join(cwd, 'debug.socket');

async function startOperator(socketPath: string): Promise<void> {
  server = await startDebugEndpoint(socketPath, { settings: OF_OPERATOR });
}

async function read(
  flags: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const host: CliHost = {
    env,
    cwd,
    clock: systemClock,
    stdout: { write: () => true },
    stderr: { write: () => true },
    stopSignal: () => new AbortController().signal,
  };
  const { namespace, configMapName, kubeConfig } = (await operatorSettings(flags, host)).settings;
  return [namespace, configMapName, kubeConfig];
}

test('flags and variables win over the operator in the sandbox of the directory', async () => {
  await startOperator(socketOfSandbox());
  expect(await read()).toEqual(['ops', 'values', '/of/operator']);
  expect(await read({ namespace: 'mine' }, { ADDON_OPERATOR_CONFIG_MAP: 'other' })).toEqual([
    'mine',
    'other',
    '/of/operator',
  ]);
});

test('without an operator the namespace has a default', async () => {
  expect(await read()).toEqual(['addon-operator', 'addon-operator', '']);
});

test('an operator on another cluster than a flag names does not count', async () => {
  await startOperator(socketOfSandbox());
  expect(await read({ 'kube-config': '/mine' })).toEqual(['addon-operator', 'addon-operator', '/mine']);
  expect(await read({ 'kube-context': 'prod' })).toEqual(['addon-operator', 'addon-operator', '']);
  expect(await read({ 'kube-config': '/of/operator' })).toEqual(['ops', 'values', '/of/operator']);
});

test('a variable names another cluster, but not in the directory of a sandbox', async () => {
  await startOperator(socketOfSandbox());
  expect(await read({}, { KUBE_CONFIG: '/mine' })).toEqual(['ops', 'values', '/of/operator']);
  await server?.stop();
  await startOperator(socketElsewhere());
  const flags = { 'debug-unix-socket': socketElsewhere() };
  expect(await read(flags)).toEqual(['ops', 'values', '/of/operator']);
  expect(await read(flags, { KUBE_CONFIG: '/mine' })).toEqual(['addon-operator', 'addon-operator', '/mine']);
});
