// Keeps the ports of a standby replica useful: a Service cannot know which replica leads, so a standby passes
// connections on to the leader, byte by byte, TLS included. While there is no leader, connections wait, and
// what a client has sent so far is kept to be sent again. When this replica becomes the leader, its own
// servers take the listening ports over with the waiting connections.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { SteadyClock } from '@addon-operator/base/clock';
import { errorFields } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { listening } from './listening.ts';

/** As many as the servers themselves accept. */
const MAX_CONNECTIONS = 2_048;
/** The longest that an API server waits for a webhook. */
const HOLD_MS = 30_000;
const RETRY_MS = 100;
/** A connection to a host that is gone is not refused; it gets no response at all. */
const CONNECT_MS = 2_000;
/** Time limit for requests in progress when the forwarder stops. */
const FINISH_MS = 5_000;
/** A response is complete when nothing follows for this long. */
const QUIET_MS = 50;

export interface ForwardedPort {
  readonly address: string;
  readonly port: number;
  /** Port on the other side. */
  readonly targetPort: number;
}

export interface ForwarderOptions {
  readonly ports: readonly ForwardedPort[];
  /** The host at this moment; undefined when there is none. */
  readonly target: () => string | undefined;
  /** Resolves when clients do not connect here any more; `stop` waits for it. Default: at once. */
  readonly drained?: () => Promise<void>;
  readonly clock: SteadyClock;
  readonly log: Logger;
}

/** A port with a server of this process for it. */
export interface TakenPort {
  /** Listens already; its handle is for a server that serves (`server.listen(handle)`). */
  readonly handle: Server;
  /** Connections that wait for that server. */
  readonly waiting: readonly Socket[];
}

/** Ports that a standby has kept open for the servers that it starts when it leads. */
export interface HeldPorts {
  /** To be called once for each port; undefined for one that is not held: it is free. */
  take(address: string, port: number): TakenPort | undefined;
  /** Resolves when clients do not connect here any more, once this process stops. */
  drained(): Promise<void>;
}

/** One listening port with the connections that wait at it. */
interface Door extends ForwardedPort {
  readonly server: Server;
  readonly waiting: Map<Socket, IncomingCall>;
}

/** A connection that is passed on. */
interface Passage {
  /** Whether the other host spoke last: the client does not wait for a response. */
  isResponded: boolean;
  /** When bytes were last passed on. */
  changedMs: number;
}

/**
 * Passes connections on as they are, bytes both ways, to another host. A connection without a target, or whose target
 * cannot be reached or goes away without a byte of a response, waits for one for at most 30 seconds: leaders change within
 * that time. When this process becomes the
 * target itself, its servers take the ports over, with the connections that wait.
 */
export class ConnectionForwarder implements HeldPorts {
  readonly #options: ForwarderOptions;
  readonly #doors: Door[] = [];
  readonly #sockets = new Set<Socket>();
  /** By the connection that came in. */
  readonly #passages = new Map<Socket, Passage>();
  readonly #end = new AbortController();
  #isForwarding = true;

  private constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** Listens on the ports. One that cannot be bound is logged and skipped. */
  static async start(options: ForwarderOptions): Promise<ConnectionForwarder> {
    const forwarder = new ConnectionForwarder(options);
    for (const port of options.ports) await forwarder.#open(port);
    return forwarder;
  }

  /** From now on connections are not passed on: they wait for {@link take}. */
  hold(): void {
    this.#isForwarding = false;
  }

  take(address: string, port: number): TakenPort | undefined {
    const index = this.#doors.findIndex((door) => door.address === address && door.port === port);
    const [door] = index === -1 ? [] : this.#doors.splice(index, 1);
    if (door === undefined) return undefined;
    const waiting = [...door.waiting.keys()];
    for (const call of door.waiting.values()) call.giveBack();
    door.waiting.clear();
    for (const socket of waiting) this.#sockets.delete(socket);
    return { handle: door.server, waiting };
  }

  async drained(): Promise<void> {
    await this.#options.drained?.();
  }

  /**
   * Waits until it is drained, and stops listening on the ports that were not taken. Requests that were passed on are answered first, for at most 5
   * seconds; then every connection is dropped.
   */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    await this.drained();
    const closed = this.#doors
      .splice(0)
      .map(({ server }) => new Promise<void>((resolve) => void server.close(() => resolve())));
    const untilMs = clock.steadyMs() + FINISH_MS;
    const never = new AbortController().signal;
    for (;;) {
      this.#dropResponded();
      if (this.#passages.size === 0 || clock.steadyMs() >= untilMs) break;
      await clock.sleep(QUIET_MS, never);
    }
    this.#end.abort();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /** Closes forwarded connections whose last request is answered. */
  #dropResponded(): void {
    const quietSinceMs = this.#options.clock.steadyMs() - QUIET_MS;
    for (const [incoming, { isResponded, changedMs }] of this.#passages) {
      if (!isResponded || changedMs > quietSinceMs) continue;
      this.#passages.delete(incoming);
      incoming.destroy();
    }
  }

  /** Listens on one port. */
  async #open(port: ForwardedPort): Promise<void> {
    const { log } = this.#options;
    // What has come is left to the server that takes the connection over.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    server.maxConnections = MAX_CONNECTIONS;
    const door: Door = { ...port, server, waiting: new Map() };
    server.on('connection', (socket) => void this.#serve(door, socket));
    try {
      await listening(server, { host: port.address, port: port.port }, (error) =>
        log.warn({ port: port.port, ...errorFields(error) }, 'a connection is not forwarded'),
      );
      this.#doors.push(door);
    } catch (error) {
      const { address, port: number } = port;
      log.warn(
        { address, port: number, ...errorFields(error) },
        'connections to this port are not forwarded',
      );
    }
  }

  /** Tries to reach the leader until the connection is answered, taken over or given up. */
  async #serve(door: Door, incoming: Socket): Promise<void> {
    const { clock, target } = this.#options;
    this.#keep(incoming);
    const call = new IncomingCall(incoming);
    door.waiting.set(incoming, call);
    incoming.once('close', () => door.waiting.delete(incoming));
    const untilMs = clock.steadyMs() + HOLD_MS;
    try {
      while (door.waiting.has(incoming)) {
        const host = this.#isForwarding ? target() : undefined;
        const outgoing = host === undefined ? undefined : await this.#reach(host, door.targetPort);
        if (outgoing !== undefined && door.waiting.has(incoming) && (await call.isResponded(outgoing))) {
          door.waiting.delete(incoming);
          this.#follow(incoming, outgoing);
          return call.join(outgoing);
        }
        outgoing?.destroy();
        if (clock.steadyMs() >= untilMs) break;
        await clock.sleep(RETRY_MS, this.#end.signal);
      }
    } catch (error) {
      if (!this.#end.signal.aborted) throw error;
    }
    if (door.waiting.delete(incoming)) incoming.destroy();
  }

  /** Records which side spoke last and when. */
  #follow(incoming: Socket, outgoing: Socket): void {
    const { clock } = this.#options;
    const passage: Passage = { isResponded: true, changedMs: clock.steadyMs() };
    const onBytes = (isResponded: boolean) => (): void => {
      passage.isResponded = isResponded;
      passage.changedMs = clock.steadyMs();
    };
    incoming.on('data', onBytes(false));
    outgoing.on('data', onBytes(true));
    this.#passages.set(incoming, passage);
  }

  /** Undefined when the host cannot be reached now. */
  async #reach(host: string, port: number): Promise<Socket | undefined> {
    const { clock, log } = this.#options;
    const socket = connect({ host, port, allowHalfOpen: true });
    this.#keep(socket);
    const settled = new AbortController();
    void clock.sleep(CONNECT_MS, settled.signal).then(
      () => socket.destroy(new Error(`no response within ${CONNECT_MS / 1_000} s`)),
      () => undefined,
    );
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      log.debug({ host, port, ...errorFields(error) }, 'a connection waits: the leader cannot be reached');
      return undefined;
    } finally {
      settled.abort();
    }
  }

  /** Remembers a socket, so that `stop` can end it. */
  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Both sides notice a broken connection, so it is not logged.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#passages.delete(socket);
    });
  }
}

/** A connection that came in, and what was sent on it before any response: that can be sent again to another host. */
class IncomingCall {
  readonly #socket: Socket;
  readonly #said: Buffer[] = [];
  #hasEnded = false;
  #isGivenBack = false;
  #stopListening = (): void => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.once('end', () => {
      this.#hasEnded = true;
    });
  }

  /** Sends a host all that was received and is being received; resolves when it answers, or false when it goes away before. */
  async isResponded(outgoing: Socket): Promise<boolean> {
    const socket = this.#socket;
    const forward = (chunk: Buffer): void => {
      this.#said.push(chunk);
      outgoing.write(chunk);
    };
    const endToo = (): void => void outgoing.end();
    for (const chunk of this.#said) outgoing.write(chunk);
    if (this.#hasEnded) outgoing.end();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const onReadable = (): void => resolve(outgoing.readableLength > 0);
    const onClose = (): void => resolve(false);
    this.#stopListening = (): void => {
      socket.pause();
      socket.off('data', forward).off('end', endToo).off('close', onClose);
      resolve(false);
    };
    outgoing.once('readable', onReadable).once('close', onClose);
    socket.on('data', forward).once('end', endToo).once('close', onClose);
    socket.resume();
    const isResponded = await promise;
    outgoing.off('readable', onReadable).off('close', onClose);
    if (this.#isGivenBack) return false;
    this.#stopListening();
    return isResponded;
  }

  /**
   * Leaves the connection to another server, with all that was received on it. The connection to the previous host is dropped. A
   * client that expects nothing to be added any more is not kept.
   */
  giveBack(): void {
    this.#isGivenBack = true;
    this.#stopListening();
    if (this.#said.length === 0) return;
    if (this.#hasEnded) this.#socket.destroy();
    else this.#socket.unshift(Buffer.concat(this.#said));
  }

  /** Passes on bytes both ways, until one side ends. */
  join(outgoing: Socket): void {
    if (!this.#hasEnded) pipeline(this.#socket, outgoing, () => undefined);
    pipeline(outgoing, this.#socket, () => undefined);
  }
}
