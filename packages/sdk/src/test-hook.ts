import { type Json, type JsonObject, parseJson } from '@addon-operator/json';
import type { BindingContext } from './binding-contexts.ts';
import { callHandler } from './call-handler.ts';
import type { HookDefinition } from './define-hook.ts';
import type { HookConfig } from './hook-config-types.ts';
import type { JsonPatchOperation, ValuesPatchOperation } from './hook-input.ts';
import { recordHookRun } from './record-hook-run.ts';

/** The input of a hook in a test; parts that are left out are empty. */
export interface TestInput<C extends HookConfig> {
  readonly contexts?: readonly BindingContext<C>[];
  readonly values?: JsonObject;
  readonly configValues?: JsonObject;
  readonly signal?: AbortSignal;
}

/** The requests of a hook; none of them is applied. */
export interface TestOutcome {
  readonly values: readonly ValuesPatchOperation[];
  readonly configValues: readonly ValuesPatchOperation[];
  readonly kubernetes: readonly JsonObject[];
  readonly metrics: readonly JsonObject[];
  /** Undefined if the hook gave no response. The patch is as the hook gave it. */
  readonly admission:
    | {
        readonly allowed: boolean;
        readonly message?: string;
        readonly warnings: readonly string[];
        readonly patch?: readonly JsonPatchOperation[];
      }
    | undefined;
  readonly conversion:
    | { readonly convertedObjects?: readonly JsonObject[]; readonly failedMessage?: string }
    | undefined;
  readonly log: readonly JsonObject[];
}

/**
 * Calls the handler of a hook as the daemon does, in this thread, and returns what it requested. Throws what the handler
 * throws.
 */
export async function testHook<C extends HookConfig>(
  hook: HookDefinition<C>,
  input: TestInput<C> = {},
): Promise<TestOutcome> {
  const log: JsonObject[] = [];
  const { contexts = [], values = {}, configValues = {}, signal = new AbortController().signal } = input;
  const run = recordHookRun<C>(
    {
      bindingContext: JSON.stringify(contexts),
      values: JSON.stringify(values),
      configValues: JSON.stringify(configValues),
    },
    (line) => log.push(parseJson(line) as JsonObject),
    signal,
  );
  await callHandler(hook.handler, run.input);
  const outputs = run.outputs();
  return {
    values: listOf(outputs.valuesPatch) as readonly ValuesPatchOperation[],
    configValues: listOf(outputs.configValuesPatch) as readonly ValuesPatchOperation[],
    kubernetes: listOf(outputs.kubernetesPatch) as readonly JsonObject[],
    metrics: listOf(outputs.metrics) as readonly JsonObject[],
    admission: admissionOf(outputs.admissionResponse),
    conversion: listOf(outputs.conversionResponse)[0] as TestOutcome['conversion'],
    log,
  };
}

/** The recorder puts each document on a line of its own. */
function listOf(lines: string): readonly Json[] {
  return lines === '' ? [] : lines.split('\n').map((line) => parseJson(line) as Json);
}

function admissionOf(text: string): TestOutcome['admission'] {
  const [response] = listOf(text) as readonly (NonNullable<TestOutcome['admission']> & { patch?: unknown })[];
  if (typeof response?.patch !== 'string') return response;
  return { ...response, patch: JSON.parse(Buffer.from(response.patch, 'base64').toString()) as [] };
}
