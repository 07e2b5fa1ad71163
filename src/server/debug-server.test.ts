import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { systemClock } from '../lib/clock.ts';
import { silentLogger } from '../lib/log.ts';
import { requestDebug } from './debug-client.ts';
import type { DebugEndpoint } from './debug-routes.ts';
import { startDebugServer, startDebugTcpServer } from './debug-server.ts';
import type { RunningServer } from './serve.ts';

const ENDPOINT: DebugEndpoint = {
  view: daemonView(),
  parameters: { list: () => [], set: () => undefined },
  ...NO_COMMANDS,
};

let directory = '';
const servers: RunningServer[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'debug-server-'));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(directory, { recursive: true });
});

async function start(path: string): Promise<RunningServer> {
  const server = await startDebugServer(path, ENDPOINT, silentLogger);
  servers.push(server);
  return server;
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('the socket is 0600 in a directory of 0700 and gone after the stop', async () => {
  const path = join(directory, 'run/operator/debug.socket');
  const server = await start(path);
  expect(modeOf(path)).toBe('600');
  expect(modeOf(join(directory, 'run/operator'))).toBe('700');
  await server.stop();
  servers.length = 0;
  expect(existsSync(path)).toBe(false);
});

test('requests are answered over the socket', async () => {
  const path = join(directory, 's');
  await start(path);
  const answer = await requestDebug({ socketPath: path, path: '/module/list.json' }, systemClock);
  expect(answer).toEqual({ status: 200, body: '{"enabledModules":["web"]}\n' });
  const form = { name: 'log.level', value: 'debug', duration: '' };
  expect(await requestDebug({ socketPath: path, path: '/config/set', form }, systemClock)).toEqual({
    status: 200,
    body: '',
  });
});

test('a socket that a killed process left behind is replaced', async () => {
  const path = join(directory, 's');
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  expect(() => execFileSync(process.execPath, ['-e', script, path])).toThrow('Command failed');
  expect(statSync(path).isSocket()).toBe(true);
  await start(path);
  expect(await requestDebug({ socketPath: path, path: '/' }, systemClock)).toMatchObject({ status: 200 });
});

test('a socket that a running process answers on is not taken', async () => {
  const path = join(directory, 's');
  await start(path);
  await expect(start(path)).rejects.toMatchObject({
    code: 'DEBUG_SOCKET',
    message: `Cannot open the debug socket ${path} (--debug-unix-socket): another running process uses it`,
  });
  expect(await requestDebug({ socketPath: path, path: '/' }, systemClock)).toMatchObject({ status: 200 });
});

test('of a path that is too long the message says so', async () => {
  await expect(start(join(directory, 'x'.repeat(110)))).rejects.toThrow('its path is longer than');
});

test('a file that is no socket is not removed', async () => {
  const path = join(directory, 'file');
  writeFileSync(path, 'precious');
  await expect(start(path)).rejects.toThrow('is no socket');
  expect(existsSync(path)).toBe(true);
});

test('on TCP the endpoint is read only', async () => {
  const server = await startDebugTcpServer('127.0.0.1:0', ENDPOINT, silentLogger);
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}`;
  expect((await fetch(`${url}/module/list.json`)).status).toBe(200);
  expect((await fetch(`${url}/config/set`, { method: 'POST', body: 'name=log.level' })).status).toBe(405);
});

test('a wrong TCP address is named with its flag', async () => {
  await expect(startDebugTcpServer('nonsense', ENDPOINT, silentLogger)).rejects.toThrow(
    'Cannot open the debug endpoint on "nonsense" (--debug-http-addr): use host:port',
  );
});
