/** Applies the jqFilter of a binding to an object. One failure of the jq process is retried at once. */

import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { filterResult } from '@addon-operator/jq/engines/jq-engine';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { KubernetesBindingSpec, SnapshotItem } from '../../hook-config/kubernetes-binding.ts';

/** A compiled jq program. */
export interface JqProgram {
  apply(input: unknown, signal: AbortSignal): Promise<readonly unknown[]>;
}

/** Converts an object into the item that a hook sees. */
export type ObjectFilter = (object: KubeObject, signal: AbortSignal) => Promise<SnapshotItem>;

/**
 * The filter of a binding: keeps the object if the binding does, adds the result of its jq program if it has one.
 *
 * @throws (from the filter) OperatorError, naming binding and object: JQ_RUNTIME or JQ_TIMEOUT when the program fails on the
 * object, see {@link isObjectFailure}; JQ_UNAVAILABLE or ABORTED when it was not applied at all
 */
export function createObjectFilter(
  spec: Pick<KubernetesBindingSpec, 'name' | 'keepFullObjects'>,
  program: JqProgram | undefined,
): ObjectFilter {
  return async (object, signal) => {
    const kept = spec.keepFullObjects ? { object } : {};
    if (program === undefined) return kept;
    try {
      return { ...kept, filterResult: filterResult(await applyPatiently(program, object, signal)) };
    } catch (error) {
      signal.throwIfAborted();
      const { namespace = '', name } = object.metadata;
      throw new OperatorError(
        error instanceof OperatorError ? error.code : 'JQ_RUNTIME',
        `Cannot apply jqFilter of binding "${spec.name}" to ${object.kind} ${namespace}/${name}: ${messageOf(error)}`,
        { cause: error },
      );
    }
  };
}

/** Whether a filter failed on the object, so that it can be expected to work on others. */
export function isObjectFailure(error: unknown): boolean {
  return hasCode(error, 'JQ_RUNTIME') || hasCode(error, 'JQ_TIMEOUT');
}

/** A process of jq that died or was too slow once must not cost an event, so the first failure does not count. */
async function applyPatiently(
  program: JqProgram,
  object: KubeObject,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    return await program.apply(object, signal);
  } catch {
    signal.throwIfAborted();
    return program.apply(object, signal);
  }
}
