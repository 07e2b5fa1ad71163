import type { Logger } from '@addon-operator/base/log';
import { moduleNameOf } from '../hooks/hook.ts';
import type { ModuleRegistry } from '../model/module-registry.ts';
import { MODULES } from '../model/probe-readiness.ts';
import type { HookRunEnd } from './hook-execution.ts';

interface ReadinessParts {
  readonly registry: Pick<ModuleRegistry, 'tracked'>;
  readonly log: Logger;
}

/** Stores the report of a readiness probe, and logs each change. */
export function noteReadiness(
  { registry, log }: ReadinessParts,
  { run, readiness }: Pick<HookRunEnd, 'run' | 'readiness'>,
): void {
  const module = moduleNameOf(run.hook.hook);
  const tracked = [...registry.tracked.values()].find((other) => other.module.name === module);
  if (tracked === undefined || readiness === undefined) return;
  // A module counts as ready before its first report, so that a start without problems logs
  // nothing.
  const was = tracked.readiness?.type ?? 'ready';
  tracked.noteReadiness(readiness);
  if (readiness.type === was) return;
  const fields = { module, hook: run.hook.hook.name };
  switch (readiness.type) {
    case 'ready':
      return log.info(fields, 'module is ready: its readiness probe says so');
    case 'not-ready':
      return log.warn(
        { ...fields, reason: readiness.message },
        'module is not ready: its readiness probe says so',
      );
    case 'unknown':
      return log.warn(
        { ...fields, reason: readiness.message },
        `readiness of the module is not known: its probe fails, and the API server does not serve ${MODULES.resource}.${MODULES.group}, which probes of module-sdk read`,
      );
  }
}
