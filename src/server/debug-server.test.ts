import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import type { RunningServer } from '@addon-operator/http-server/serve';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CapturedLog } from '../../test/support/captured-log.ts';
import { daemonView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { requestDebug } from './debug-client.ts';
import type { DebugEndpoint } from './debug-routes.ts';
import { startDebugServer, startDebugTcpServer } from './debug-server.ts';

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
  const server = await startDebugServer(path, ENDPOINT, silentLogger, async () => undefined);
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

test('requests over the socket get responses', async () => {
  const path = join(directory, 's');
  await start(path);
  const reply = await requestDebug({ socketPath: path, path: '/module/list.json' }, systemClock);
  expect(reply).toEqual({ status: 200, body: '{"enabledModules":["web"]}\n' });
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

test('a socket on which a running process responds is not taken', async () => {
  const path = join(directory, 's');
  await start(path);
  await expect(start(path)).rejects.toMatchObject({
    code: 'DEBUG_SOCKET',
    message: `Cannot open the debug socket ${path} (--debug-unix-socket): another running process uses it`,
  });
  expect(await requestDebug({ socketPath: path, path: '/' }, systemClock)).toMatchObject({ status: 200 });
});

test('of a path that is too long the message says so', async () => {
  await expect(start(join(directory, 'x'.repeat(110)))).rejects.toThrow(
    'its path exceeds the maximum length',
  );
});

test('a file that is no socket is not removed', async () => {
  const path = join(directory, 'file');
  writeFileSync(path, 'precious');
  await expect(start(path)).rejects.toThrow('is not a socket');
  expect(existsSync(path)).toBe(true);
});

test('on TCP the endpoint is read only', async () => {
  const server = await startDebugTcpServer('127.0.0.1:0', ENDPOINT, silentLogger, async () => 'token');
  servers.push(server);
  const url = `http://127.0.0.1:${server.port}`;
  const headers = { authorization: 'Bearer token' };
  expect((await fetch(`${url}/module/list.json`, { headers })).status).toBe(200);
  const change = { method: 'POST', body: 'name=log.level', headers };
  expect((await fetch(`${url}/config/set`, change)).status).toBe(405);
});

test.each([undefined, 'Bearer', 'Bearer other', 'Bearer toke', 'Bearer tokens', 'Basic token', 'token'])(
  'on TCP nothing is shown, when the authorization is %j',
  async (authorization) => {
    const server = await startDebugTcpServer(':0', ENDPOINT, silentLogger, async () => 'token');
    servers.push(server);
    const headers = authorization === undefined ? {} : { authorization };
    for (const path of ['/', '/module/list.json', '/discovery', '/none', '/debug/pprof/heap']) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
      expect([path, response.status]).toEqual([path, 401]);
    }
  },
);

test('on TCP a new token counts at once, and while it cannot be read every request is refused', async () => {
  let token: string | undefined = 'one';
  const read = async (): Promise<string> => {
    if (token === undefined) throw new Error('gone');
    return token;
  };
  const server = await startDebugTcpServer(':0', ENDPOINT, silentLogger, read);
  servers.push(server);
  const statusWith = async (given: string): Promise<number> => {
    const headers = { authorization: `Bearer ${given}` };
    return (await fetch(`http://127.0.0.1:${server.port}/`, { headers })).status;
  };
  expect(await statusWith('one')).toBe(200);
  token = 'two';
  expect([await statusWith('one'), await statusWith('two')]).toEqual([401, 200]);
  token = undefined;
  expect([await statusWith('two'), await statusWith('undefined')]).toEqual([401, 401]);
});

test('on TCP only this machine can connect, when the address names no host', async () => {
  const server = await startDebugTcpServer(':0', ENDPOINT, silentLogger, async () => 'token');
  servers.push(server);
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of others)
    await expect(fetch(`http://${address}:${server.port}/`)).rejects.toThrow('fetch failed');
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(401);
});

test('the endpoint on TCP is not opened without a token', async () => {
  const read = async (): Promise<string> => {
    throw new Error('the token file /t is empty');
  };
  await expect(startDebugTcpServer(':0', ENDPOINT, silentLogger, read)).rejects.toMatchObject({
    code: 'DEBUG_SOCKET',
    message: expect.stringContaining('the token file /t is empty'),
  });
});

test.each([
  [1_000, 1_000],
  [undefined, 'unknown'],
])('changes over the socket are logged with the user %j, before they are done', async (uid, logged) => {
  const path = join(directory, 's');
  const captured = new CapturedLog(new FakeClock());
  const seen: number[] = [];
  const endpoint: DebugEndpoint = {
    ...ENDPOINT,
    parameters: {
      list: () => [],
      set: (name) => {
        seen.push(captured.records.length);
        if (name !== 'log.level') throw new Error('unknown');
      },
    },
  };
  servers.push(await startDebugServer(path, endpoint, captured.logger, async () => uid));
  const set = async (name: string): Promise<void> => {
    const form = { name, value: 'v'.repeat(300), duration: '' };
    await requestDebug({ socketPath: path, path: '/config/set', form }, systemClock);
  };
  await requestDebug({ socketPath: path, path: '/config/list.json' }, systemClock);
  await set('log.level');
  await set('no.such');
  const record = { 'peer.uid': logged, path: '/config/set' };
  expect(captured.records).toMatchObject([
    { ...record, level: 'info', form: { name: 'log.level', value: 'v'.repeat(256) } },
    { ...record, form: { name: 'no.such' } },
    { ...record, status: 400 },
  ]);
  expect(seen).toEqual([1, 2]);
});

test('a wrong TCP address is named with its flag', async () => {
  await expect(startDebugTcpServer('nonsense', ENDPOINT, silentLogger, async () => 'token')).rejects.toThrow(
    'Cannot open the debug endpoint on "nonsense" (--debug-http-addr): use host:port',
  );
});
