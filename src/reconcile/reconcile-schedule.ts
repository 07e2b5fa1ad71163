import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { parseCrontab } from '@addon-operator/crontab';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { invalidFile } from '../modules/load-module.ts';
import type { Module } from '../modules/module.ts';

/**
 * The next time of a `reconcileEvery`, a duration or a crontab, after `afterMs`. Both are in
 * milliseconds since the epoch; undefined: never.
 *
 * @throws OperatorError SCHEDULE_INVALID
 */
export function nextReconcile(reconcileEvery: string, afterMs: number): number | undefined {
  const everyMs = parseGoDuration(reconcileEvery);
  return everyMs === undefined ? parseCrontab(reconcileEvery).next(afterMs) : afterMs + everyMs;
}

/** Refuses modules whose `reconcileEvery` cannot be parsed; returns all modules. */
export function withReadableSchedules(modules: readonly Module[]): readonly Module[] {
  return modules.map((module) => {
    const { path, manifest } = module;
    if (manifest.reconcileEvery === undefined) return module;
    try {
      nextReconcile(manifest.reconcileEvery, 0);
      return module;
    } catch (cause) {
      const error = `${path}/module.yaml: reconcileEvery: ${messageOf(cause)}; a duration such as 10m is also accepted`;
      const refusal = invalidFile(new OperatorError('MODULE_INVALID', error, { cause }));
      return { ...module, manifest: { ...manifest, reconcileEvery: undefined }, refusal };
    }
  });
}
