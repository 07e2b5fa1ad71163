import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseGoDuration } from '@addon-operator/base/go-duration';
import { parseCrontab } from '@addon-operator/crontab';
import type { Module } from '../modules/module.ts';

/**
 * When a `reconcileEvery`, a duration or a crontab, is due next after a time, both in milliseconds since the epoch;
 * undefined: never.
 *
 * @throws OperatorError SCHEDULE_INVALID
 */
export function nextReconcile(reconcileEvery: string, afterMs: number): number | undefined {
  const everyMs = parseGoDuration(reconcileEvery);
  return everyMs === undefined ? parseCrontab(reconcileEvery).next(afterMs) : afterMs + everyMs;
}

/**
 * Makes sure that the crontabs of all modules can be read.
 *
 * @throws OperatorError MODULE_INVALID
 */
export function checkReconcileSchedules(modules: readonly Module[]): void {
  for (const { path, manifest } of modules) {
    if (manifest.reconcileEvery === undefined) continue;
    try {
      nextReconcile(manifest.reconcileEvery, 0);
    } catch (cause) {
      throw new OperatorError(
        'MODULE_INVALID',
        `${path}/module.yaml: reconcileEvery: ${messageOf(cause)}; a duration such as 10m is also accepted`,
        { cause },
      );
    }
  }
}
