import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from '@addon-operator/http-server/serve';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cliRun as run } from '../../test/support/cli-run.ts';
import { daemonView, moduleView } from '../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../test/support/debug-endpoint.ts';
import { problem } from '../status/operator-problems.ts';
import { findDebugSocket } from './find-socket.ts';

let directory = '';
let socketPath = '';
const servers: RunningServer[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'socket-'));
  socketPath = join(directory, '.sandbox/debug.socket');
  mkdirSync(join(directory, '.sandbox/below'), { recursive: true });
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(directory, { recursive: true });
});

async function startDaemon(view = daemonView()): Promise<void> {
  servers.push(await startDebugEndpoint(socketPath, { view }));
}

test('the socket of the sandbox in the working directory, or above it, is found', async () => {
  await startDaemon();
  const host = { env: {}, cwd: join(directory, '.sandbox/below') };
  expect(await findDebugSocket({}, host)).toBe(socketPath);
  expect(await findDebugSocket({}, { ...host, env: { ADDON_OPERATOR_DEBUG_SOCKET: '/other' } })).toBe(
    '/other',
  );
  expect(await findDebugSocket({ 'debug-unix-socket': '/flag' }, host)).toBe('/flag');
  expect((await run('module list', { cwd: directory })).stdout).toBe('enabledModules:\n  - web\n');
});

test.each([
  ['well', 0],
  ['waiting', 2],
  ['broken', 1],
] as const)('status of an operator that is %s exits with %i', async (level, exitCode) => {
  const status = {
    level,
    text: 'one sentence',
    problems: ['one sentence', 'two'],
    details: [problem('broken', 'one sentence'), problem('waiting', 'two', { advice: ['wait'] })],
    modules: { ready: 1 },
    tasks: 3,
  };
  await startDaemon(daemonView({ status: () => status }));
  const host = { cwd: directory };
  const text = 'one sentence\n- two\n  to fix: wait\nmodules: 1 ready\ntasks: 3\n';
  expect(await run('status', host)).toEqual({ exitCode, stdout: text, stderr: '' });
  expect(await run('status -o json', host)).toEqual({
    exitCode,
    stdout: `${JSON.stringify(status)}\n`,
    stderr: '',
  });
  expect((await run('status -o yaml', host)).stdout).toContain(`level: ${level}\n`);
  expect((await run('status -o name', host)).stdout).toBe(`${level}\n`);
});

test('no control character of a response reaches a terminal, and a pipe gets them', async () => {
  const render = () => Promise.resolve('a: \u001b[2Jred\r\n');
  await startDaemon(daemonView({ module: () => moduleView({ render }) }));
  const shown = await run('module render web', { cwd: directory, isTTY: true });
  expect(shown.stdout).toBe('a: \\u001b[2Jred\\u000d\n');
  expect((await run('module render web', { cwd: directory })).stdout).toBe('a: \u001b[2Jred\r\n');
});

test('the default applies, when the sandbox is gone or its socket is a file', async () => {
  const found = async () => await findDebugSocket({}, { env: {}, cwd: directory });
  expect(await found()).toBe('/var/run/addon-operator/debug.socket');
  writeFileSync(socketPath, '');
  expect(await found()).toBe('/var/run/addon-operator/debug.socket');
});

test('names of modules are completed, also those with options before them', async () => {
  const web = {
    module: 'web',
    status: 'ready',
    isEnabled: true,
    source: null,
    reason: '',
    waitsFor: [],
    version: null,
  } as const;
  const modules = ['web', 'web-api', '$(id)'].map((module) => ({
    ...web,
    module,
    since: '',
    revision: null,
    lastError: null,
    nextTryAt: null,
    paused: null,
  }));
  await startDaemon(daemonView({ modules: () => modules }));
  const host = { cwd: directory };
  expect((await run('module list', { ...host, isTTY: true })).stdout).toMatch(
    /^NAME +READY +STATUS .*\nweb .*yes.* .*ready/,
  );
  expect((await run('__complete -- module values w', host)).stdout).toBe('web\nweb-api\n');
  expect((await run('__complete -- module values -o json w', host)).stdout).toBe('web\nweb-api\n');
  expect((await run('__complete -- module values web w', host)).stdout).toBe('');
  expect((await run('__complete -- plan db w', host)).stdout).toBe('web\nweb-api\n');
});

test('without an operator no names are completed', async () => {
  expect(await run('__complete -- module values w')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});
