/**
 * A command on a laptop for an operator in a cluster. The command finds a debug socket as always; it is ours, and each
 * connection to it runs `debug-pipe` in the operator's pod, which connects its stdin and stdout with the socket there. So all
 * commands work, and a user who may not `exec` into the pod may not use them.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { OperatorError } from '@addon-operator/base/errors';
import type { CliHost, RemoteOperator } from '../cli-host.ts';
import { findOperator } from './find-operator.ts';
import { type ContainerRef, connectKubeconfig, type RemoteCluster } from './kubeconfig-cluster.ts';
import type { RemoteTarget } from './remote-arguments.ts';

/** Offers the socket of an operator in a cluster to the commands of this process; connects when one uses it. */
export async function openRemote(
  target: RemoteTarget,
  host: CliHost,
): Promise<{ readonly host: CliHost } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'addon-operator-'));
  const path = join(directory, 's');
  const operator = new Operator(target, host);
  await operator.serve(createServer(), path);
  return {
    host: {
      ...host,
      env: { ...host.env, ...variablesOf(target), ADDON_OPERATOR_DEBUG_SOCKET: path },
      remote: operator,
    },
    async [Symbol.asyncDispose]() {
      operator.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Commands that connect to the API server themselves read their settings: they must act on the same cluster. */
function variablesOf({ kubeconfig, context, namespace }: RemoteTarget): CliHost['env'] {
  return {
    ...(kubeconfig !== undefined && { KUBE_CONFIG: kubeconfig }),
    ...(context !== undefined && { KUBE_CONTEXT: context }),
    ...(namespace !== undefined && { ADDON_OPERATOR_NAMESPACE: namespace }),
  };
}

class Operator implements RemoteOperator {
  readonly #target: RemoteTarget;
  readonly #host: Pick<CliHost, 'clock' | 'stopSignal'>;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #found: Promise<{ readonly cluster: RemoteCluster; readonly container: ContainerRef }> | undefined;
  problem: unknown;

  constructor(target: RemoteTarget, host: Pick<CliHost, 'clock' | 'stopSignal'>) {
    this.#target = target;
    this.#host = host;
  }

  async serve(server: Server, path: string): Promise<void> {
    await this.#listen(server, { path }, async (socket) => {
      await this.#execute(['debug-pipe'], socket, socket);
      socket.end();
    });
  }

  async run(args: readonly string[]): Promise<string> {
    const output = new PassThrough();
    const [chunks] = await Promise.all([output.toArray(), this.#execute(args, undefined, output)]);
    return Buffer.concat(chunks as readonly Buffer[]).toString('utf8');
  }

  async forward(port: number): Promise<number> {
    const { cluster, container } = await this.#find();
    const server = createServer();
    await this.#listen(server, { port: 0, host: '127.0.0.1' }, (socket) =>
      cluster.forward(container, port, socket),
    );
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #listen(
    server: Server,
    address: { readonly path: string } | { readonly port: number; readonly host: string },
    connect: (socket: Socket) => Promise<void>,
  ): Promise<void> {
    this.#servers.push(server);
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      connect(socket).catch((error: unknown) => {
        this.problem = error;
        socket.destroy();
      });
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(address, resolve);
    await promise;
  }

  async #execute(
    args: readonly string[],
    input: Socket | undefined,
    output: Socket | PassThrough,
  ): Promise<void> {
    const { cluster, container } = await this.#find();
    const command = ['addon-operator', ...args];
    const { isSuccess, stderr } = await cluster.exec(container, command, { input, output });
    if (!isSuccess && !output.destroyed) throw commandFailure(container, stderr);
  }

  /** Found once: the pod stays the same for a command. */
  async #find(): Promise<{ readonly cluster: RemoteCluster; readonly container: ContainerRef }> {
    this.#found ??= (async () => {
      const cluster = await connectKubeconfig(this.#target, this.#host.clock);
      return { cluster, container: await findOperator(cluster, this.#target, this.#host.stopSignal()) };
    })();
    return await this.#found;
  }
}

function commandFailure({ namespace, pod }: ContainerRef, stderr: string): OperatorError {
  const isOlder = stderr.includes("unknown command 'debug-pipe'");
  const reason = isOlder
    ? 'its version knows no remote commands: use kubectl exec, or upgrade it'
    : stderr || 'the connection was closed';
  return new OperatorError('DEBUG_SOCKET', `pod ${pod} in namespace ${namespace}: ${reason}`);
}
