import { fieldsOf, parseJson, stringOf } from '@addon-operator/json';
import { requestDebug } from '../server/debug-client.ts';
import type { CliHost } from './cli-host.ts';
import { findDebugSocket } from './find-socket.ts';
import type { NameKind } from './name-arguments.ts';

/** A person waits for a completion: better none than one that hangs. */
const LIMIT_MS = 300;
/** Of an operator in a cluster, which is found by its Lease and reached through the API server. */
const REMOTE_LIMIT_MS = 3_000;
/** Names that a shell takes as one word, whatever its rules for quotes are. */
const PLAIN_WORD = /^[^\s\p{C}'"`$\\;&|<>()*?[\]{}!#~]+$/u;

const SOURCES: Readonly<
  Record<NameKind, { readonly path: string; readonly names: (data: unknown) => unknown[] }>
> = {
  module: {
    path: '/module/list.json?all=true',
    names: (data) => listOf(data, 'modules').map((module) => fieldsOf(module)['module']),
  },
  run: {
    path: '/api/v1/runs',
    names: (data) => listOf(data, 'runs').map((run) => fieldsOf(run)['id']),
  },
  hook: { path: '/hook/list.json', names: (data) => [...listOf(data, 'hooks')] },
  'running hook': {
    path: '/api/v1/now',
    names: (data) => listOf(data, 'runningHooks').map((hook) => fieldsOf(hook)['hook']),
  },
  queue: {
    path: '/queue/list.json?showEmpty=true',
    names: (data) =>
      [...listOf(data, 'active'), ...listOf(data, 'empty')].map((queue) => fieldsOf(queue)['name']),
  },
};

/** Names of modules, queues or hooks that run, or numbers of runs, of the running operator; empty without one, and when it is slow. */
export async function knownNames(kind: NameKind, host: CliHost): Promise<readonly string[]> {
  const { path, names } = SOURCES[kind];
  const limit = new AbortController();
  host.clock.sleep(host.remote === undefined ? LIMIT_MS : REMOTE_LIMIT_MS, limit.signal).then(
    () => limit.abort(),
    () => undefined,
  );
  try {
    const socketPath = await findDebugSocket({}, host);
    const { status, body } = await requestDebug({ socketPath, path }, host.clock, limit.signal);
    if (status !== 200) return [];
    return names(parseJson(body))
      .map(stringOf)
      .filter((name) => PLAIN_WORD.test(name));
  } catch {
    return [];
  } finally {
    limit.abort();
  }
}

function listOf(data: unknown, name: string): readonly unknown[] {
  const list = fieldsOf(data)[name];
  return Array.isArray(list) ? list : [];
}
