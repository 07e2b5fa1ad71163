/**
 * The operations that a user may request for a module, for the debug socket and for the API of the page. The request is
 * only accepted here: it takes effect in the queue, and the status of the module shows the result.
 */

import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import { type ModuleOperation, OPERATIONS } from '../status/module-object.ts';

/**
 * `deleting`: the module is not enabled, and its deletion is tried again. `disabled`: it is neither enabled nor on its way
 * out. `paused`: it is not run before the pause ends. `unauthorized`: the policy does not let it run. `held`: its files cannot
 * be read or used.
 */
export type OperationOutcome = 'requested' | 'deleting' | 'disabled' | 'paused' | 'unauthorized' | 'held';

/** Requests an operation on a module. */
export type RequestOperation = (module: string, operation: ModuleOperation) => OperationOutcome;

/** The end of the sentence for an accepted operation. */
const RESPONSES: Readonly<Record<ModuleOperation, string>> = {
  reconcile: 'is run',
  'force-reconcile': 'is run, and helm applies its chart even if nothing has changed',
  abort:
    'is aborted: its hooks and helm are terminated. If a run was in progress, it counts as failed until something changes',
};

/** Requests the operation that a form names in its field `operation`. */
export function operationResponse(
  request: RequestOperation,
  module: string,
  form: URLSearchParams,
): RouteResponse {
  const word = form.get('operation') ?? '';
  const operation = OPERATIONS.find((known) => known === word);
  if (operation === undefined)
    return errorResponse(
      400,
      'REQUEST_INVALID',
      `unknown operation "${word}", expected one of ${OPERATIONS.join(', ')}`,
    );
  switch (request(module, operation)) {
    case 'requested':
      return textResponse(`module ${module} ${RESPONSES[operation]}\n`);
    case 'deleting':
      return textResponse(`module ${module} is disabled: its deletion is tried again\n`);
    case 'disabled':
      return errorResponse(409, 'REQUEST_REFUSED', `module ${module} is disabled`);
    case 'paused':
      return errorResponse(409, 'REQUEST_REFUSED', `module ${module} is paused: resume it first`);
    case 'unauthorized':
      return errorResponse(
        409,
        'MODULE_UNAUTHORIZED',
        `module ${module} is not authorized, see "explain module ${module}" for the reason`,
      );
    case 'held':
      return errorResponse(
        409,
        'REQUEST_REFUSED',
        `module ${module} is held, see "explain module ${module}" for the reason`,
      );
  }
}
