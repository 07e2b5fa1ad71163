import { boundedDelay } from '../../lib/bounded-time.ts';
import { OperatorError } from '../../lib/errors.ts';
import { isObject, type Json } from '../../lib/json.ts';
import type { HookResult } from '../../sdk/flow-hooks.ts';

const FIELDS = ['abortReconcile', 'requeue', 'requeueAfterMs'];
const FORM = '{abortReconcile?: boolean, requeue?: boolean, requeueAfterMs?: number}, or nothing';

/**
 * Checks what a flow hook returned.
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
  // Every field was checked.
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
