import { hasCode, messageOf } from '@addon-operator/base/errors';
import type { Module } from '../modules/module.ts';

/** Decides which modules may run. */
export interface Authorization {
  /** The name of the policy, which hooks see. */
  readonly policy: string;
  /** @throws OperatorError MODULE_UNAUTHORIZED when a module may not run any more, or was changed */
  verify(module: Module, signal: AbortSignal): Promise<void>;
}

/**
 * Checks a module again right before its deletion, since its hooks will run.
 *
 * @returns why it may not run any more; undefined while it may
 */
export async function deletionRefusal(
  authorization: Authorization | undefined,
  module: Module,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await authorization?.verify(module, signal);
    return undefined;
  } catch (error) {
    if (!hasCode(error, 'MODULE_UNAUTHORIZED')) throw error;
    return messageOf(error.cause ?? error);
  }
}
