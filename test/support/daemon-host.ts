import type { DaemonHost } from '../../src/app/host.ts';
import { CapturedLog } from './captured-log.ts';
import { FakeClock } from './fake-clock.ts';

export interface TestHost extends DaemonHost {
  readonly clock: FakeClock;
  readonly captured: CapturedLog;
}

/** A host without an environment, whose clock is stopped and whose log is kept. */
export function daemonHost(clock = new FakeClock()): TestHost {
  const captured = new CapturedLog(clock);
  return {
    env: {},
    cwd: '/',
    clock,
    steadyClock: clock,
    random: () => 0,
    log: captured.logger,
    version: 'test',
    captured,
  };
}
