import type {
  Ask,
  AskFailure,
  AskResponse,
  CallRequest,
  WorkEnd,
  WorkRequest,
} from '@addon-operator/script-threads/host-protocol';
import { runProgram, type WorkTools } from '@addon-operator/script-threads/worker-thread';
import { callExtension, type ExtensionDefinition, isExtensionDefinition } from '@addon-operator/sdk/host';
import { SDK_MODULES } from '../../hooks/in-process/sdk-modules.ts';

/** How far the causes of an error are looked through. */
const MAX_CAUSES = 8;

type OpenAsk = PromiseWithResolvers<string | undefined>;

/** Open requests of a worker to the daemon, and the errors that they caused. */
class Asks {
  readonly #open = new Map<number, OpenAsk>();
  readonly #askOf = new WeakMap<object, number>();
  #last = 0;

  /** Sends a request and waits for the response; rejects with an error like that of the daemon. */
  open(makeAsk: (ask: number) => Ask, send: (ask: Ask) => void): Promise<string | undefined> {
    this.#last += 1;
    const entry: OpenAsk = Promise.withResolvers();
    this.#open.set(this.#last, entry);
    send(makeAsk(this.#last));
    return entry.promise;
  }

  /** A response that is not awaited any more is dropped. */
  settle(reply: AskResponse): void {
    const entry = this.#open.get(reply.ask);
    this.#open.delete(reply.ask);
    if (!('failure' in reply)) return entry?.resolve(reply.value);
    const error = errorOf(reply.failure);
    this.#askOf.set(error, reply.ask);
    entry?.reject(error);
  }

  forgetOpen(): void {
    this.#open.clear();
  }

  /** How a call ended that threw: with its own error, or with one of the daemon that it passed on. `reason`: the text of the error. */
  endOf(thrown: unknown, reason: string): WorkEnd {
    let error = thrown;
    for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1, error = error.cause) {
      const number = this.#askOf.get(error);
      if (number !== undefined)
        return { type: 'failed', reason, ask: { number, is: depth === 0 ? 'same' : 'cause' } };
    }
    return { type: 'failed', reason };
  }
}

function errorOf({ name, message, ...rest }: AskFailure): Error {
  return Object.assign(new Error(message), { name, ...rest });
}

/** The program of the threads of extensions. */
function main(): void {
  const asks = new Asks();
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
    work: (definition, request, tools) => call(definition, callOf(request), tools, asks),
    onResponse: (reply) => asks.settle(reply),
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
  asks: Asks,
): Promise<WorkEnd> {
  const method = methods[name];
  if (method === undefined) throw new Error(`it has no method ${name}`);
  const next = (given: string): Promise<string | undefined> =>
    asks.open((ask): Ask => ({ type: 'ask', ask, args: given }), reply);
  try {
    const value = await callExtension(method, { args, next, print, signal });
    return { type: 'returned', ...(value === undefined ? {} : { value }) };
  } catch (error) {
    return asks.endOf(error, failureText(error));
  } finally {
    asks.forgetOpen();
  }
}

main();
