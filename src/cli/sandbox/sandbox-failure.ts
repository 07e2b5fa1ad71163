import { OperatorError } from '@addon-operator/base/errors';
import { SandboxError } from '@addon-operator/kube-sandbox';

/**
 * Throws what the package of the sandbox threw, as an error with a code.
 *
 * @throws OperatorError INTERNAL for what keeps a sandbox from starting
 */
export function rethrowSandboxError(error: unknown): never {
  if (error instanceof SandboxError) throw new OperatorError('INTERNAL', error.message, { cause: error });
  throw error;
}
