import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { systemClock } from '@addon-operator/base/clock';
import { dumpYaml } from '@addon-operator/yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CliHost } from '../../src/cli/cli-host.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { configMapChart, under } from '../support/world-files.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;

interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly phase?: string;
  /** Its operator; without one `addon-operator` in it finds no socket. */
  readonly world?: World;
}

/** An API server with pods, whose `exec` runs the commands of the operator here. */
class PodServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    this.paths.add(request.url?.split('?')[0] ?? '');
    const status = this.refused.some((part) => request.url?.includes(part)) ? 403 : 200;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify(
        status === 403
          ? { message: 'pods is forbidden', reason: 'Forbidden' }
          : this.#object(request.url ?? ''),
      ),
    );
  });
  readonly #sockets = new WebSocketServer({ noServer: true });
  pods: readonly Pod[] = [];
  holder = '';
  /** Parts of paths that the user may not request. */
  refused: readonly string[] = [];
  readonly authorizations = new Set<string | undefined>();
  readonly paths = new Set<string>();
  directory = '';

  static async start(): Promise<PodServer> {
    const server = new PodServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    server.directory = await mkdtemp(join(tmpdir(), 'pods-'));
    const address = server.#server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await writeFile(
      join(server.directory, 'kubeconfig'),
      dumpYaml(
        {
          clusters: [
            { name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
          ],
          users: [{ name: 'u', user: { token: 'abc', as: 'jane' } }],
          contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u', namespace: 'infra' } }],
        },
        2,
      ),
    );
    server.#server.on('upgrade', (request: IncomingMessage, socket, head) => {
      server.authorizations.add(
        `${request.headers.authorization} ${String(request.headers['impersonate-user'])}`,
      );
      if (server.refused.some((part) => request.url?.includes(part)))
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      else
        server.#sockets.handleUpgrade(
          request,
          socket,
          head,
          (opened) => void server.#execute(request.url ?? '', opened),
        );
    });
    return server;
  }

  #object(path: string): object {
    if (path.includes('/leases/')) return { spec: { holderIdentity: this.holder } };
    const namespace = /namespaces\/([^/]+)\//u.exec(path)?.[1];
    const found = this.pods.filter((pod) => namespace === undefined || pod.namespace === namespace);
    return {
      items: found.map(({ name, namespace, phase = 'Running' }) => ({
        metadata: { name, namespace },
        spec: { containers: [{ name: 'sidecar' }, { name: 'addon-operator' }] },
        status: { phase },
      })),
    };
  }

  async #execute(path: string, opened: WebSocket): Promise<void> {
    const url = new URL(path, 'http://pods');
    const [, name] = /pods\/([^/]+)\/exec/u.exec(url.pathname) ?? [];
    const world = this.pods.find((pod) => pod.name === name)?.world;
    const stdin = new PassThrough();
    opened.on('message', (data: Buffer) => {
      if (data[0] === STDIN) stdin.write(data.subarray(1));
    });
    const send = (channel: number, text: string): void =>
      opened.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
    const [program, ...args] = url.searchParams.getAll('command');
    const exitCode = await runCli(args, {
      ...HOST,
      env: { DEBUG_UNIX_SOCKET: world?.flags['debug-unix-socket'] ?? '/nowhere' },
      stdin,
      stdout: { write: (text: string) => send(STDOUT, text) },
      stderr: { write: (text: string) => send(STDERR, text) },
    });
    const isSuccess = program === 'addon-operator' && exitCode === 0;
    send(STATUS, JSON.stringify({ status: isSuccess ? 'Success' : 'Failure' }));
    opened.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await rm(this.directory, { recursive: true });
  }
}

const HOST: CliHost = {
  env: {},
  cwd: '/',
  clock: systemClock,
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
  stopSignal: () => new AbortController().signal,
};

let world: World;
let server: PodServer;

beforeAll(async () => {
  server = await PodServer.start();
  world = await World.create(await sandboxBackend(), {
    modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    config: { web: 'title: wéb\n' },
  });
  await world.converge();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function run(...args: readonly string[]) {
  let stdout = '';
  let stderr = '';
  const exitCode = await runCli(args, {
    ...HOST,
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  });
  return { exitCode, stdout, stderr };
}

const cluster = () => ['--kubeconfig', join(server.directory, 'kubeconfig'), '--kube-context', 'prod'];

async function runRemote(...args: readonly string[]) {
  return await run(...cluster(), ...args);
}

test('commands reach the operator through its pod, as the user of the kubeconfig', async () => {
  server.pods = [{ namespace: 'infra', name: 'operator-0', world }];
  expect(await runRemote('status')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('all is well') as string,
  });
  const { stdout } = await runRemote('module', 'values', 'web', '-o', 'json');
  expect(JSON.parse(stdout)).toEqual({ title: 'wéb' });
  expect(await runRemote('module', 'reconcile', 'web')).toMatchObject({ exitCode: 0, stderr: '' });
  expect([...server.authorizations]).toEqual(['Bearer abc jane']);
});

test('a shell completes the names of the operator that the flags in front name', async () => {
  server.pods = [{ namespace: 'infra', name: 'operator-0', world }];
  const words = ['--', ...cluster(), 'module', 'values', 'w'];
  expect(await run('__complete', ...words)).toEqual({ exitCode: 0, stdout: 'web\n', stderr: '' });
  server.pods = [];
  expect(await run('__complete', ...words)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

test('of several replicas the leader is asked', async () => {
  const standby = { namespace: 'infra', name: 'operator-0' };
  server.pods = [
    standby,
    { ...standby, name: 'operator-1', world },
    { ...standby, name: 'operator-2', phase: 'Pending' },
  ];
  server.holder = 'operator-1.10-0-0-7.infra.pod';
  expect(await runRemote('status')).toMatchObject({ exitCode: 0 });
  expect(await runRemote('--pod', 'operator-0', 'status')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /pod operator-0 in namespace infra: .*no operator runs here[^]*Code: DEBUG_SOCKET/u,
    ) as string,
  });
  server.holder = '';
  expect(await runRemote('status')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no replica leads at the moment') as string,
  });
});

test('without a namespace the only operator of the cluster is found', async () => {
  server.pods = [{ namespace: 'elsewhere', name: 'operator-0', world }];
  expect(await runRemote('status')).toMatchObject({ exitCode: 0 });
  expect((await runRemote('-n', 'infra', 'status')).stderr).toContain(
    'no pod in namespace infra has a container',
  );
  server.pods = [...server.pods, { namespace: 'third', name: 'operator-0', world }];
  expect((await runRemote('status')).stderr).toContain(
    'choose a namespace with -n: elsewhere/operator-0 (Running), third/',
  );
});

test.each([
  [['/exec'], 'Cannot create pods/exec in namespace infra: the API server responds with HTTP status 403'],
  [['/pods'], 'Cannot get /api/v1/namespaces/infra/pods: pods is forbidden'],
])('a user who may not request %j is shown what is refused', async (refused, message) => {
  server.pods = [{ namespace: 'infra', name: 'operator-0', world }];
  server.refused = refused;
  try {
    const { exitCode, stderr } = await runRemote('status');
    expect(stderr).toContain(message);
    expect(stderr).toContain('Code: KUBE_API');
    expect(exitCode).toBe(1);
  } finally {
    server.refused = [];
  }
});

test('commands that connect to the API server themselves use the cluster that is named in front of them', async () => {
  server.pods = [{ namespace: 'infra', name: 'operator-0', world }];
  server.paths.clear();
  await runRemote('-n', 'infra', 'module', 'hold', 'web', '--reason', 'a test');
  expect([...server.paths]).toContain('/apis/addon-operator.io/v1alpha1/moduleinstalls/web');
});

test('commands below `hook` and `raw` reach the operator too', async () => {
  server.pods = [{ namespace: 'infra', name: 'operator-0', world }];
  expect(await runRemote('raw', '/status.json')).toMatchObject({ exitCode: 0 });
  expect((await runRemote('hook', 'abort', 'nox.sh')).stderr).not.toContain('no operator runs here');
});

test('a context that does not exist is named, with those that do', async () => {
  const { stderr } = await runRemote('--context', 'test', 'status');
  expect(stderr).toContain('it has no context "test"; its contexts are: prod');
});
