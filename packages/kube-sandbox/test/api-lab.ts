import { isObject } from '@addon-operator/json';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import type { ApiRequest, StreamResponse } from '../src/api-request.ts';
import type { ApiState } from '../src/api-state.ts';
import { type Controller, ControllerLoop } from '../src/controller-loop.ts';
import { definitionController, serveDefinitions } from '../src/definition-controller.ts';
import { eventController } from '../src/event-controller.ts';
import { garbageCollector, OwnerIndex } from '../src/garbage-collector.ts';
import { handleRequest } from '../src/handle-request.ts';
import { scalarString } from '../src/json-access.ts';
import { KindRegistry } from '../src/kind-registry.ts';
import { BUILT_IN_KINDS, type ServedKind } from '../src/kinds.ts';
import { namespaceController } from '../src/namespace-controller.ts';
import { silentLog } from '../src/sandbox-log.ts';
import { ObjectStore } from '../src/sandbox-store.ts';
import { memoryJournal } from '../src/store-journal.ts';
import { workloadController } from '../src/workload-controller.ts';

export interface CallOptions {
  readonly contentType?: string;
  readonly accept?: string;
  readonly ifNoneMatch?: string;
  readonly userAgent?: string;
}

export interface CallResult {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly warnings: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** The events that a watch has sent so far. */
export interface OpenWatch {
  readonly events: readonly Record<string, unknown>[];
  /** `TYPE name` of each event. */
  readonly titles: readonly string[];
  readonly ended: Promise<void>;
  stop(): void;
}

/** The API of a sandbox without HTTP: a namespace `default`, a stopped clock, controllers if requested. */
export class ApiLab {
  readonly clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly state: ApiState;

  constructor() {
    let uids = 0;
    this.state = {
      store: new ObjectStore(memoryJournal.state, memoryJournal),
      kinds: new KindRegistry(),
      clock: this.clock,
      newUid: () => `uid-${(uids += 1)}`,
      random: () => 0,
    };
    serveDefinitions(this.state);
    this.create('/api/v1/namespaces', { metadata: { name: 'default' } });
  }

  /** Starts the controllers of a real sandbox, or the given ones. */
  startControllers(controllers: readonly Controller[] = this.allControllers()): ControllerLoop {
    return new ControllerLoop(this.state, controllers, silentLog);
  }

  allControllers(): readonly Controller[] {
    const collector = garbageCollector(new OwnerIndex(this.state.store));
    return [namespaceController, collector, definitionController, eventController, workloadController];
  }

  /** Lets controllers finish what they have begun. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await settle();
  }

  call(method: string, path: string, body?: unknown, options: CallOptions = {}): CallResult {
    const response = handleRequest(this.state, this.#request(method, path, body, options));
    if (response.type === 'stream') throw new Error('a stream');
    const { status, text, warnings, headers } = response;
    return { status, body: parse(text), text, warnings, headers };
  }

  get(path: string, accept = 'application/json'): CallResult {
    return this.call('GET', path, undefined, { accept });
  }

  create(path: string, body: unknown): CallResult {
    return this.call('POST', path, body);
  }

  patch(path: string, type: 'json' | 'merge' | 'strategic' | 'apply', body: unknown): CallResult {
    const contentType = type === 'apply' ? 'application/apply-patch+yaml' : PATCH_TYPES[type];
    return this.call('PATCH', path, body, { contentType });
  }

  watch(path: string, accept = 'application/json'): OpenWatch {
    const response = handleRequest(this.state, this.#request('GET', path, undefined, { accept }));
    if (response.type !== 'stream') throw new Error(`no stream: ${response.text}`);
    return openWatch(response);
  }

  #request(method: string, path: string, body: unknown, options: CallOptions): ApiRequest {
    const url = new URL(path, 'http://sandbox');
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
    return {
      method,
      path: url.pathname,
      query: url.searchParams,
      accept: options.accept ?? 'application/json',
      contentType: options.contentType ?? 'application/json',
      ifNoneMatch: options.ifNoneMatch ?? '',
      userAgent: options.userAgent ?? 'lab/1.0',
      body: body instanceof Uint8Array ? body : Buffer.from(text),
    };
  }
}

/** The first built-in kind of this name. */
export function builtInKind(name: string): ServedKind {
  const found = BUILT_IN_KINDS.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function openWatch(response: StreamResponse): OpenWatch {
  const events: Record<string, unknown>[] = [];
  const stopped = new AbortController();
  const send = (text: string): boolean => {
    events.push(parse(text));
    return true;
  };
  const ended = response.run(send, stopped.signal);
  return {
    events,
    get titles() {
      return events.map(titleOf);
    },
    ended,
    stop: () => stopped.abort(),
  };
}

function titleOf(event: Record<string, unknown>): string {
  const object = isObject(event['object']) ? event['object'] : {};
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  return `${scalarString(event['type'])} ${scalarString(metadata['name'] ?? object['code'])}`.trim();
}
