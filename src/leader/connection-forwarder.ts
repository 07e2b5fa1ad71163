import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { errorFields } from '@addon-operator/base/errors';
import { listening } from '@addon-operator/base/listening';
import type { Logger } from '@addon-operator/base/log';

const MAX_CONNECTIONS = 2_048;

export interface ForwardedPort {
  readonly address: string;
  readonly port: number;
  /** Port on the other side. */
  readonly targetPort: number;
}

export interface ConnectionForwarder {
  /** Stops listening and drops every connection; the ports are free then. */
  stop(): Promise<void>;
}

/**
 * Passes connections on as they are, bytes both ways, to another host. A connection without a target, or whose target
 * refuses it, is closed. A port that cannot be bound is logged and skipped.
 *
 * @param target the host at this moment; undefined when there is none
 */
export async function forwardConnections(
  ports: readonly ForwardedPort[],
  target: () => string | undefined,
  log: Logger,
): Promise<ConnectionForwarder> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  };
  const servers: Server[] = [];
  for (const { address, port, targetPort } of ports) {
    const server = createServer({ allowHalfOpen: true }, (incoming) => {
      keep(incoming);
      const host = target();
      if (host === undefined) {
        incoming.destroy();
        return;
      }
      const outgoing = connect({ host, port: targetPort, allowHalfOpen: true });
      keep(outgoing);
      // If one side breaks, the other is closed too; only the peers need to know.
      pipeline(incoming, outgoing, () => undefined);
      pipeline(outgoing, incoming, () => undefined);
    });
    server.maxConnections = MAX_CONNECTIONS;
    try {
      await listening(server, { host: address, port }, (error) =>
        log.warn({ port, ...errorFields(error) }, 'a connection is not forwarded'),
      );
      servers.push(server);
    } catch (error) {
      log.warn({ address, port, ...errorFields(error) }, 'connections to this port are not forwarded');
    }
  }
  return {
    async stop() {
      const closed = servers.map(
        (server) => new Promise<void>((resolve) => void server.close(() => resolve())),
      );
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
