// Object patches: operations that a hook wrote to KUBERNETES_PATCH_PATH, already parsed (`parse-
// operations.ts`), are applied here after the hook has succeeded. Each operation finds its kind by discovery
// and goes to `create-object.ts`, `delete-object.ts` or `patch-object.ts`, which also retry lost races. All
// operations run even if one fails; one error at the end names those that failed.

import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { NO_SPAN, type Span } from '@addon-operator/base/trace';
import type { ApiResource } from '../kube-object.ts';
import type { ResourceAccess } from '../policy-rules.ts';
import { createObject } from './create-object.ts';
import { deleteObject } from './delete-object.ts';
import type { PatchContext } from './patch-context.ts';
import { patchObject } from './patch-object.ts';
import { describeOperation, type PatchOperation, targetOf } from './patch-operation.ts';
import { tracedRequests } from './traced-requests.ts';

/** Applies the object patches of hooks, one operation after another, in the order in which the hook wrote them. */
export class ObjectPatcher {
  readonly #context: PatchContext;

  constructor(context: PatchContext) {
    this.#context = context;
  }

  /**
   * Runs the operations one after another, in order. One that fails does not keep the later ones from running.
   *
   * @param span gets the requests, those that fail or are slow as children; default: nothing is traced
   * @throws OperatorError OBJECT_PATCH_FAILED at the end, naming each failed operation by its number (from 1) and its
   *   object; the cause is an AggregateError of what they threw
   * @throws `signal.reason` at once on abort
   */
  async apply(
    operations: readonly PatchOperation[],
    signal: AbortSignal,
    span: Span = NO_SPAN,
  ): Promise<void> {
    const context = this.#within(span);
    const failures: { readonly message: string; readonly error: unknown }[] = [];
    for (const [index, operation] of operations.entries()) {
      signal.throwIfAborted();
      try {
        await run(notingAccess(context, operation), operation, signal);
      } catch (error) {
        signal.throwIfAborted();
        const message = `operation ${index + 1}: ${describeOperation(operation)}: ${messageOf(error)}`;
        failures.push({ message, error });
      }
    }
    if (failures.length === 0) return;
    throw new OperatorError(
      'OBJECT_PATCH_FAILED',
      `${failures.length} of ${operations.length} object patch operations failed: ${failures.map(({ message }) => message).join('; ')}`,
      { cause: new AggregateError(failures.map(({ error }) => error)) },
    );
  }

  /** Whether the API server serves a kind. @throws what keeps that from being known */
  async serves(apiVersion: string, kind: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#context.find(apiVersion, kind, signal);
      return true;
    } catch (error) {
      if (!hasCode(error, 'KUBE_KIND_UNKNOWN')) throw error;
      return false;
    }
  }

  #within(span: Span): PatchContext {
    const context = this.#context;
    if (span.context === undefined) return context;
    return { ...context, kube: tracedRequests(context.kube, context.clock, span) };
  }
}

/** Reports the access that the operation needs when it finds its kind, so also for an operation that will be refused. */
function notingAccess(context: PatchContext, operation: PatchOperation): PatchContext {
  const { onAccess } = context;
  if (onAccess === undefined) return context;
  const find: PatchContext['find'] = async (...wanted) => {
    const resource = await context.find(...wanted);
    for (const access of accessOfOperation(operation, resource)) onAccess(access);
    return resource;
  };
  return { ...context, find };
}

/** Dispatches by the type of the operation. */
async function run(context: PatchContext, operation: PatchOperation, signal: AbortSignal): Promise<void> {
  switch (operation.operation) {
    case 'Create':
    case 'CreateIfNotExists':
    case 'CreateOrUpdate':
      return createObject(context, operation, signal);
    case 'Delete':
    case 'DeleteInBackground':
    case 'DeleteNonCascading':
      return deleteObject(context, operation, signal);
    case 'JQPatch':
    case 'MergePatch':
    case 'JSONPatch':
      return patchObject(context, operation, signal);
  }
}

/**
 * The access that an operation may need, regardless of the state of the cluster: JQPatch writes only where its result differs, and
 * CreateOrUpdate replaces only what exists, which may be otherwise in the next run. Empty for an object that the server has
 * no path for.
 */
export function accessOfOperation(
  operation: PatchOperation,
  { group, plural, isNamespaced }: Pick<ApiResource, 'group' | 'plural' | 'isNamespaced'>,
): readonly ResourceAccess[] {
  const { namespace, name } = 'object' in operation ? targetOf(operation.object) : operation.target;
  if (isNamespaced !== (namespace !== '')) return [];
  const to = (verbs: readonly string[], subresource?: string): ResourceAccess => ({
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    verbs,
    ...(isNamespaced && { namespace }),
  });
  switch (operation.operation) {
    case 'Create':
    case 'CreateIfNotExists':
      return [to(['create'])];
    case 'CreateOrUpdate':
      // An object whose name the server makes up never exists.
      return [to(name === '' ? ['create'] : ['create', 'get', 'update'])];
    case 'Delete':
      return [to(['delete', 'get'])];
    case 'DeleteInBackground':
    case 'DeleteNonCascading':
      return [to(['delete'])];
    case 'JQPatch':
      return [to(['get']), to(['update'], operation.subresource)];
    case 'MergePatch':
    case 'JSONPatch':
      return [to(['patch'], operation.subresource)];
  }
}
