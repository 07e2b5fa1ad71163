import { InProcessHooks, type InProcessHooksOptions } from '../../src/hooks/in-process/in-process-hooks.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/log.ts';

/** In-process hooks with their real processes; to be stopped at the end. */
export function startInProcessHooks(options: Partial<InProcessHooksOptions> = {}): InProcessHooks {
  return new InProcessHooks({
    clock: systemClock,
    log: silentLogger,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
    timeoutMs: undefined,
    maxOutputBytes: undefined,
    heapLimitBytes: 256 * 1024 * 1024,
    check: () => undefined,
    ...options,
  });
}
