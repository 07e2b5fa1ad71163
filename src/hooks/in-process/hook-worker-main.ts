/**
 * The program inside the threads of in-process hooks: loads the script, calls its handler with contexts and values, and
 * returns what it recorded, in the form of output files.
 */

import type { Strings, WorkEnd } from '@addon-operator/script-threads/host-protocol';
import { runProgram } from '@addon-operator/script-threads/worker-thread';
import {
  callHandler,
  FrozenDocuments,
  type HookOutputContents,
  type HookRunContents,
  isHookDefinition,
  recordHookRun,
  runOutcomeOf,
} from '@addon-operator/sdk/host';
import { SDK_MODULES } from './sdk-modules.ts';

/** One output of a hook may be as large as that of an executable. */
const MAX_OUTPUT_CHARACTERS = 10 * 1024 * 1024;

interface Definition {
  readonly config: unknown;
  readonly handler: (input: unknown) => unknown;
}

main();

/** The program of the threads of hooks. */
function main(): void {
  const documents = new FrozenDocuments();
  runProgram<Definition>({
    modules: SDK_MODULES,
    definitionOf,
    describe: ({ config }) => JSON.stringify(withVersion(config)),
    work: async ({ handler }, request, { print, signal }): Promise<WorkEnd> => {
      if (request.type !== 'run') throw new Error(`a hook has no method ${request.method}`);
      const texts = inputsOf({ ...request.inputs, ...request.keptInputs });
      const recorded = recordHookRun(texts, print, signal, (text) => documents.of(text));
      try {
        await callHandler(handler, recorded.input);
      } catch (error) {
        const outcome = runOutcomeOf(error);
        if (outcome === undefined) throw error;
        const { reason, ...details } = outcome;
        return { type: 'failed', reason, details: definedStrings(details) };
      }
      return { type: 'done', outputs: { ...checked(recorded.outputs()) } };
    },
  });
}

function definedStrings(texts: Readonly<Record<string, string | undefined>>): Strings {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

function inputsOf({
  bindingContext = '',
  values = '',
  configValues = '',
  traceparent,
}: Strings): HookRunContents {
  return { bindingContext, values, configValues, ...(traceparent !== undefined && { traceparent }) };
}

/** @throws Error for a default export that is no hook */
function definitionOf(exported: unknown): Definition {
  if (isHookDefinition(exported)) return exported as unknown as Definition;
  const found = exported === undefined ? 'it has none' : `this one is of type ${typeof exported}`;
  throw new Error(`the default export must be what defineHook(...) returns, ${found}`);
}

/** Scripts may leave out the version; there is only one for them. */
function withVersion(config: unknown): unknown {
  return typeof config === 'object' && !Array.isArray(config) ? { configVersion: 'v1', ...config } : config;
}

/** @throws RangeError for an output beyond the limit */
function checked(outputs: HookOutputContents): HookOutputContents {
  for (const [name, text] of Object.entries(outputs)) {
    if (text.length > MAX_OUTPUT_CHARACTERS)
      throw new RangeError(
        `its ${name} has ${text.length} characters, more than the limit of ${MAX_OUTPUT_CHARACTERS}`,
      );
  }
  return outputs;
}
