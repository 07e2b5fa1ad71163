import type {
  CallRequest,
  Query,
  QueryFailure,
  QueryResponse,
  WorkEnd,
  WorkRequest,
} from '@addon-operator/script-threads/host-protocol';
import { runProgram, type WorkTools } from '@addon-operator/script-threads/worker-thread';
import { callExtension, type ExtensionDefinition, isExtensionDefinition } from '@addon-operator/sdk/host';
import { SDK_MODULES } from '../../hooks/in-process/sdk-modules.ts';

/** The maximum depth to which causes of an error are followed. */
const MAX_CAUSES = 8;

type OpenQuery = PromiseWithResolvers<string | undefined>;

/**
 * Open requests of this worker to the daemon (calls of `next`), and the errors that they returned.
 */
class Queries {
  readonly #open = new Map<number, OpenQuery>();
  readonly #queryOf = new WeakMap<object, number>();
  #last = 0;

  /**
   * Sends a request and waits for the response; rejects with an error like the one in the daemon.
   */
  open(makeQuery: (query: number) => Query, send: (query: Query) => void): Promise<string | undefined> {
    this.#last += 1;
    const entry: OpenQuery = Promise.withResolvers();
    this.#open.set(this.#last, entry);
    send(makeQuery(this.#last));
    return entry.promise;
  }

  /** Ignores the response to a request that is not awaited any more. */
  settle(reply: QueryResponse): void {
    const entry = this.#open.get(reply.query);
    this.#open.delete(reply.query);
    if (!('failure' in reply)) return entry?.resolve(reply.value);
    const error = errorOf(reply.failure);
    this.#queryOf.set(error, reply.query);
    entry?.reject(error);
  }

  forgetOpen(): void {
    this.#open.clear();
  }

  /**
   * The end of a call that threw: with its own error, or with one of the daemon that it passed on.
   * `reason`: the message of the error.
   */
  endOf(thrown: unknown, reason: string): WorkEnd {
    let error = thrown;
    // The daemon has the original error: naming its request keeps code and cause, which a copy
    // would lose.
    for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1, error = error.cause) {
      const number = this.#queryOf.get(error);
      if (number !== undefined)
        return { type: 'failed', reason, query: { number, is: depth === 0 ? 'same' : 'cause' } };
    }
    return { type: 'failed', reason };
  }
}

function errorOf({ name, message, ...rest }: QueryFailure): Error {
  return Object.assign(new Error(message), { name, ...rest });
}

/**
 * The program of the threads of extensions. It loads one file, and then handles calls of its methods.
 */
function main(): void {
  const queries = new Queries();
  runProgram<ExtensionDefinition>({
    modules: SDK_MODULES,
    definitionOf: (exported) => {
      if (isExtensionDefinition(exported)) return exported;
      const found = exported === undefined ? 'it has none' : `this one is of type ${typeof exported}`;
      throw new Error(
        `the default export must be what a function such as defineExtensions(...) or defineFlowHooks(...) returns, ${found}`,
      );
    },
    describe: ({ type, description, methods }) =>
      JSON.stringify({ type, description, methods: Object.keys(methods) }),
    work: (definition, request, tools) => call(definition, callOf(request), tools, queries),
    onResponse: (reply) => queries.settle(reply),
  });
}

function callOf(request: WorkRequest): CallRequest {
  if (request.type === 'call') return request;
  throw new Error('an extension is called, not run');
}

async function call(
  { methods }: ExtensionDefinition,
  { method: name, args }: CallRequest,
  { print, reply, failureText, signal }: WorkTools,
  queries: Queries,
): Promise<WorkEnd> {
  const method = methods[name];
  if (method === undefined) throw new Error(`it has no method ${name}`);
  const next = (given: string): Promise<string | undefined> =>
    queries.open((query): Query => ({ type: 'query', query, args: given }), reply);
  try {
    const value = await callExtension(method, { args, next, print, signal });
    return { type: 'returned', ...(value === undefined ? {} : { value }) };
  } catch (error) {
    return queries.endOf(error, failureText(error));
    // `next` of a call that is over must not be answered into a later call.
  } finally {
    queries.forgetOpen();
  }
}

main();
