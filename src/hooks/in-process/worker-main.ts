import { callHandler } from '../../sdk/call-handler.ts';
import { isHookDefinition } from '../../sdk/define-hook.ts';
import { type HookOutputTexts, recordHookRun } from '../../sdk/record-hook-run.ts';
import type { RunRequest, WorkRequest } from './host-protocol.ts';
import { runProgram, type WorkTools } from './worker-thread.ts';

/** One output of a hook may be as large as that of an executable. */
const MAX_OUTPUT_CHARACTERS = 10 * 1024 * 1024;

interface Definition {
  readonly config: unknown;
  readonly handler: (input: unknown) => unknown;
}

/** The program of the threads of hooks. */
runProgram<Definition>({
  definitionOf: (exported) => {
    if (isHookDefinition(exported)) return exported as unknown as Definition;
    const found = exported === undefined ? 'it has none' : `this one is a ${typeof exported}`;
    throw new Error(`the default export must be what defineHook(...) returns, ${found}`);
  },
  describe: ({ config }) =>
    JSON.stringify(
      typeof config === 'object' && !Array.isArray(config) ? { configVersion: 'v1', ...config } : config,
    ),
  work: async (hook, request, tools) => ({ type: 'done', outputs: await run(hook, runOf(request), tools) }),
});

function runOf(request: WorkRequest): RunRequest {
  if (request.type === 'run') return request;
  throw new Error(`a hook has no method ${request.method}`);
}

async function run(hook: Definition, { texts }: RunRequest, tools: WorkTools): Promise<HookOutputTexts> {
  const recorded = recordHookRun(texts, tools.print, tools.signal);
  await callHandler(hook.handler, recorded.input);
  const outputs = recorded.outputs();
  for (const [name, text] of Object.entries(outputs)) {
    if (text.length > MAX_OUTPUT_CHARACTERS)
      throw new RangeError(
        `its ${name} has ${text.length} characters, more than the limit of ${MAX_OUTPUT_CHARACTERS}`,
      );
  }
  return outputs;
}
