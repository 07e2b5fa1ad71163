import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { ClusterAccess } from './cluster-access.ts';
import type { Credentials } from './credentials.ts';

/** Connections of one purpose: a watch holds its own for long, a request borrows one for a moment. */
export type Purpose = 'request' | 'watch';

/** Shorter than the limits of servers and load balancers, so that this side closes an idle connection first. */
const IDLE_TIMEOUT_MS = 30_000;

/** Keep-alive connections to one API server, replaced when certificates change. */
export class ConnectionPool {
  readonly #access: ClusterAccess;
  #agents: { readonly key: string; readonly byPurpose: Readonly<Record<Purpose, HttpAgent>> } | undefined;

  constructor(access: ClusterAccess) {
    this.#access = access;
  }

  /**
   * The agent for a purpose. Changed certificates make a new agent: connections were authenticated with the
   * old ones.
   */
  agentFor(purpose: Purpose, credentials: Credentials): HttpAgent {
    const key = JSON.stringify([credentials.ca, credentials.cert, credentials.key]);
    if (this.#agents?.key !== key) {
      if (this.#agents !== undefined) retire(Object.values(this.#agents.byPurpose));
      const create = (): HttpAgent => createAgent(this.#access, credentials);
      this.#agents = { key, byPurpose: { request: create(), watch: create() } };
    }
    return this.#agents.byPurpose[purpose];
  }

  /** Closes every connection, used or idle. */
  close(): void {
    for (const agent of Object.values(this.#agents?.byPurpose ?? {})) agent.destroy();
    this.#agents = undefined;
  }
}

/** TLS settings belong to the agent, since node:https reuses connections by agent. */
function createAgent(access: ClusterAccess, credentials: Credentials): HttpAgent {
  const keepAlive = { keepAlive: true, keepAliveMsecs: IDLE_TIMEOUT_MS, timeout: IDLE_TIMEOUT_MS };
  if (!access.server.startsWith('https:')) return new HttpAgent(keepAlive);
  const { serverName, isVerified } = access.tls;
  const { ca, cert, key } = credentials;
  return new HttpsAgent({
    ...keepAlive,
    rejectUnauthorized: isVerified,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

/** Closes idle connections; those in use finish their work and then close for being idle. */
function retire(agents: readonly HttpAgent[]): void {
  for (const agent of agents) {
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }
}
