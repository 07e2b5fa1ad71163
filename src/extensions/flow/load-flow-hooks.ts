// Loads the flow hooks of users. `create-flow-hooks.ts` calls it at the start and after each
// reload; a file that cannot be loaded fails the whole load, because a missing flow hook would
// silently change which modules run. Calls of hooks go through `runtime/`, and what they return is
// checked here.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorFields, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { boundedDelay } from '@addon-operator/concurrency/bounded-time';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { isObject, type Json, type JsonObject } from '@addon-operator/json';
import type { FlowHookSetup, FlowHookType, HookResult } from '@addon-operator/sdk';
import { FLOW_HOOK_TYPES, FLOW_HOOKS } from '@addon-operator/sdk/host';
import {
  exportsDefinition,
  filesBelow,
  isExtensionFile,
  mayExportDefinition,
  readExtensionFile,
} from '../runtime/extension-files.ts';
import type { Extensions, LoadedExtension } from '../runtime/extension-runtime.ts';

/**
 * Loads the hooks that the files directly in a directory register, by file name and then in order
 * of registration; none without the directory.
 *
 * @throws OperatorError EXTENSION_INVALID for a file that cannot be loaded, or that registers no
 *   flow hooks
 */
export async function loadFlowHooks(
  directory: string,
  extensions: Extensions,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly FlowHookSetup[]> {
  const setups: FlowHookSetup[] = [];
  const scripts = await scriptsIn(directory);
  await warnOfMisplaced(directory, scripts, log);
  for (const path of scripts) {
    const logOfFile = log.child({ extension: path });
    const loaded = await extensions.load(path, logOfFile, signal);
    const types = typesOf(loaded);
    log.info({ extension: path, types: types.flat() }, 'flow hooks are loaded');
    for (const [index, hookTypes] of types.entries())
      setups.push({ hook: hookOf(path, String(index), extensions, logOfFile), hookTypes });
  }
  return setups;
}

async function scriptsIn(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => isExtensionFile(name) && !name.startsWith('.'))
      .toSorted()
      .map((name) => join(directory, name));
  } catch (cause) {
    if (isMissingFile(cause)) return [];
    throw new OperatorError(
      'EXTENSION_INVALID',
      `Cannot read the directory of flow hooks ${directory}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function warnOfMisplaced(directory: string, scripts: readonly string[], log: Logger): Promise<void> {
  try {
    for (const path of await misplacedIn(directory, scripts))
      log.warn(
        { path },
        'the file exports flow hooks but is not loaded: move it directly into the flow hooks directory, with the extension .ts, .mts, .js or .mjs',
      );
  } catch (error) {
    // These files are not loaded, so an unreadable one is no error.
    log.debug({ directory, ...errorFields(error) }, 'cannot look for misplaced flow hooks');
  }
}

/**
 * Files at another depth or with another extension that export flow hooks. Others may be there to
 * be imported.
 */
async function misplacedIn(directory: string, scripts: readonly string[]): Promise<readonly string[]> {
  const misplaced: string[] = [];
  for (const path of await filesBelow(directory)) {
    if (scripts.includes(path) || !mayExportDefinition(path)) continue;
    const source = (await readExtensionFile(path)).toString();
    if (exportsDefinition(source, 'defineFlowHooks')) misplaced.push(path);
  }
  return misplaced;
}

function typesOf({ path, type, description }: LoadedExtension): readonly (readonly FlowHookType[])[] {
  if (type !== FLOW_HOOKS || !isObject(description) || !Array.isArray(description['hooks']))
    throw new OperatorError(
      'EXTENSION_INVALID',
      `${path} is in the flow hooks directory but registers no flow hooks: its default export must be the result of defineFlowHooks()`,
    );
  const hooks: readonly unknown[] = description['hooks'];
  // Unknown types are dropped, so that a hook of a newer SDK still works for the types that exist
  // here.
  return hooks.map((hook) => {
    const types: readonly unknown[] = isObject(hook) && Array.isArray(hook['types']) ? hook['types'] : [];
    return FLOW_HOOK_TYPES.filter((known) => types.includes(known));
  });
}

function hookOf(path: string, method: string, extensions: Extensions, log: Logger): FlowHookSetup['hook'] {
  return async ({ type, module, target, error, signal }) => {
    const given: JsonObject = {
      type,
      ...(module !== undefined && { module: asJson(module) }),
      ...(target !== undefined && { target: asJson(target) }),
      ...(error !== undefined && { error }),
    };
    const title = `the flow hook at ${type} in '${path}'`;
    const request = { path, method, title, args: [given], returns: 'optional', log } as const;
    return readHookResult(await extensions.call(request, signal), path);
  };
}

/** The facts contain only strings, numbers and nulls. */
function asJson(facts: object): Json {
  return facts as JsonObject;
}

const FIELDS = ['abortReconcile', 'requeue', 'requeueAfterMs'];
const FORM = '{abortReconcile?: boolean, requeue?: boolean, requeueAfterMs?: number}, or nothing';

/**
 * Checks the result of a flow hook.
 *
 * @param path of its file, for the message
 * @throws OperatorError EXTENSION_FAILED
 */
export function readHookResult(value: Json | undefined, path: string): HookResult | undefined {
  if (value === undefined || value === null) return undefined;
  const problem = problemOf(value);
  if (problem !== undefined)
    throw new OperatorError(
      'EXTENSION_FAILED',
      `The flow hook in ${path} returned ${problem}; expected ${FORM}`,
    );
  // All fields were checked above.
  const result = value as HookResult;
  const { requeueAfterMs } = result;
  return requeueAfterMs === undefined ? result : { ...result, requeueAfterMs: boundedDelay(requeueAfterMs) };
}

function problemOf(value: Json): string | undefined {
  if (!isObject(value)) return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  const unknown = Object.keys(value).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) return `an object with the unknown key ${unknown}`;
  const { abortReconcile, requeue, requeueAfterMs } = value;
  if (abortReconcile !== undefined && typeof abortReconcile !== 'boolean')
    return `${JSON.stringify(abortReconcile)} for abortReconcile`;
  if (requeue !== undefined && typeof requeue !== 'boolean') return `${JSON.stringify(requeue)} for requeue`;
  const isTime = typeof requeueAfterMs === 'number' && requeueAfterMs >= 0;
  if (requeueAfterMs !== undefined && !isTime) return `${JSON.stringify(requeueAfterMs)} for requeueAfterMs`;
  return undefined;
}
