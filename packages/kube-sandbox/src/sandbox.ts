import { randomUUID } from 'node:crypto';
import type { ApiRequest, ApiResponse } from './api-request.ts';
import type { ApiState } from './api-state.ts';
import { ControllerLoop } from './controller-loop.ts';
import { ensureObject } from './controller-writes.ts';
import { definitionController, serveDefinitions } from './definition-controller.ts';
import { eventController } from './event-controller.ts';
import { garbageCollector, OwnerIndex } from './garbage-collector.ts';
import { handleRequest } from './handle-request.ts';
import { KindRegistry } from './kind-registry.ts';
import { logLeftOut } from './left-out.ts';
import { namespaceController } from './namespace-controller.ts';
import type { SandboxClock } from './sandbox-clock.ts';
import { SandboxError } from './sandbox-error.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { startHttpServer } from './sandbox-server.ts';
import { ObjectStore, type StoredEntry, type StoreState } from './sandbox-store.ts';
import { type Journal, memoryJournal, openStateStorage, type StateStorage } from './store-journal.ts';
import { workloadController } from './workload-controller.ts';

export interface SandboxOptions {
  /** Where the state is kept; without it the state ends with the process. */
  readonly directory?: string;
  /** 0 (default) takes a free one. */
  readonly port?: number;
  readonly clock: SandboxClock;
  readonly log: SandboxLog;
  /** Called after each change of an object, by whomever it was made; not for what a sandbox has from the start. */
  readonly onChange?: (change: ObjectChange) => void;
  /** Called before each request that comes over HTTP is handled; what it returns is sent in place of a response of the API. */
  readonly onRequest?: (request: ApiRequest) => ApiResponse | undefined;
}

/** One committed change of an object. */
export interface ObjectChange {
  readonly type: 'added' | 'modified' | 'removed';
  /** The last state, if it was removed. Never changed in place. */
  readonly object: SandboxObject;
  /** Undefined for an object that was added. */
  readonly previous: SandboxObject | undefined;
  /** `User-Agent` of the request that made it; undefined for what controllers of the sandbox did. */
  readonly userAgent: string | undefined;
}

/** An object as the API returns it. */
export interface SandboxObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** The objects of a sandbox at one moment. Nothing in it is ever changed, so it can be used as often as wanted. */
export interface SandboxState extends StoreState {
  readonly objects: readonly StoredEntry[];
}

/** A running Kubernetes API without a cluster behind it. */
export interface Sandbox {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** YAML text of a kubeconfig for this sandbox. */
  readonly kubeconfig: string;
  /** Handles one request of this process, as if it had come over HTTP. Refusals are responses. */
  handle(request: ApiRequest): ApiResponse;
  /** All objects as they are now, for {@link Sandbox.reset}. */
  snapshot(): SandboxState;
  /**
   * Goes back to the state of a new sandbox, or to an earlier one, and ends all watches. `onChange` is not called.
   *
   * @throws SandboxError when the state is kept in a directory
   */
  reset(state?: SandboxState): void;
  /** Ends all watches, closes the port and the state file. */
  stop(): Promise<void>;
}

const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/**
 * Starts a sandbox on 127.0.0.1, with the state that its directory holds. When the signal aborts it stops as by
 * {@link Sandbox.stop}.
 *
 * @throws SandboxError when the port is taken, or the directory is in use, unreadable or not writable
 */
export async function startSandbox(options: SandboxOptions, signal: AbortSignal): Promise<Sandbox> {
  signal.throwIfAborted();
  const storage = await openStateStorage(options.directory, options.log);
  try {
    return await serve(options, storage, signal);
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function serve(options: SandboxOptions, storage: StateStorage, signal: AbortSignal): Promise<Sandbox> {
  const { log } = options;
  let cluster: Cluster;
  const handle = (request: ApiRequest): ApiResponse => cluster.handle(request);
  const handleHttp = (request: ApiRequest): ApiResponse => options.onRequest?.(request) ?? handle(request);
  const server = await startHttpServer(options.port ?? 0, handleHttp, log);
  cluster = beginCluster(options, storage.journal);
  const stopOnce = async (): Promise<void> => {
    signal.removeEventListener('abort', onAbort);
    cluster.end();
    await server.stop();
    await storage.close();
  };
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopOnce());
  const onAbort = (): void => {
    stop().catch((error: unknown) => log.error({ error }, 'sandbox did not stop'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const url = `http://127.0.0.1:${server.port}`;
  const reset = (state: StoreState = memoryJournal.state): void => {
    if (options.directory !== undefined) throw new SandboxError('a sandbox with a directory cannot be reset');
    cluster.end();
    cluster = beginCluster(options, { ...memoryJournal, state });
  };
  const snapshot = (): SandboxState => cluster.snapshot();
  return { url, kubeconfig: kubeconfigText(url), handle, snapshot, reset, stop };
}

/** One state, and what works on it. */
interface Cluster {
  readonly handle: (request: ApiRequest) => ApiResponse;
  readonly snapshot: () => SandboxState;
  /** Ends its watches. */
  readonly end: () => void;
}

function beginCluster({ clock, log, onChange }: SandboxOptions, journal: Journal): Cluster {
  const store = new ObjectStore(journal.state, journal);
  const state: ApiState = {
    store,
    kinds: new KindRegistry(),
    clock,
    newUid: randomUUID,
    random: Math.random,
  };
  serveDefinitions(state);
  logLeftOut(store, log);
  const controllers = [
    namespaceController,
    garbageCollector(new OwnerIndex(store)),
    definitionController,
    eventController,
    workloadController,
  ];
  const loop = new ControllerLoop(state, controllers, log);
  furnishCluster(state);
  let userAgent: string | undefined;
  if (onChange !== undefined)
    store.subscribe(({ type, object, previous }) => onChange({ type, object, previous, userAgent }));
  const ended = new AbortController();
  return {
    handle: (request) => {
      userAgent = request.userAgent;
      try {
        return endingWith(handleRequest(state, request), ended.signal);
      } finally {
        userAgent = undefined;
      }
    },
    snapshot: () => ({ revision: store.revision, objects: [...store.all()] }),
    end: () => {
      loop.stop();
      ended.abort();
    },
  };
}

function endingWith(response: ApiResponse, ended: AbortSignal): ApiResponse {
  if (response.type === 'body') return response;
  return { ...response, run: (send, signal) => response.run(send, AbortSignal.any([signal, ended])) };
}

/** Creates the objects that every cluster has from the start. */
function furnishCluster(state: ApiState): void {
  for (const name of NAMESPACES)
    ensureObject(state, { kind: 'Namespace', apiVersion: 'v1', metadata: { name } });
  ensureObject(state, {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: { ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }] },
  });
}

/** A kubeconfig for the sandbox: no credentials, for it asks for none. */
export function kubeconfigText(url: string): string {
  return [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: sandbox',
    '  cluster:',
    `    server: ${url}`,
    'contexts:',
    '- name: sandbox',
    '  context:',
    '    cluster: sandbox',
    '    user: sandbox',
    'current-context: sandbox',
    'users:',
    '- name: sandbox',
    '  user: {}',
    '',
  ].join('\n');
}
