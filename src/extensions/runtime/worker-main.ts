import type { Ask, CallRequest, SentRequest, WorkEnd } from '../../hooks/in-process/host-protocol.ts';
import { runProgram, type WorkTools } from '../../hooks/in-process/worker-thread.ts';
import { callExtension } from '../../sdk/call-extension.ts';
import { type ExtensionDefinition, isExtensionDefinition } from '../../sdk/extension-definition.ts';
import { Asks } from './asks.ts';

main();

/** The program of the threads of extensions. */
function main(): void {
  const asks = new Asks();
  runProgram<ExtensionDefinition>({
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
    onAnswer: (answer) => asks.settle(answer),
  });
}

function callOf(request: SentRequest): CallRequest {
  if (request.type === 'call') return request;
  throw new Error('an extension is called, not run');
}

async function call(
  { methods }: ExtensionDefinition,
  { method: name, args }: CallRequest,
  { print, reply, signal }: WorkTools,
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
    return asks.endOf(error);
  } finally {
    asks.forgetOpen();
  }
}
