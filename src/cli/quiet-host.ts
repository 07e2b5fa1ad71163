import type { DaemonHost } from '../daemon/host.ts';
import { steadyClock } from '../lib/clock.ts';
import { createLogger } from '../lib/pino-logger.ts';
import type { CliHost } from './cli-host.ts';
import { readVersion } from './version.ts';

/** For commands that use parts of the daemon: warnings and errors go to stderr, for people, the rest nowhere. */
export function quietHost({ env, cwd, clock, stderr }: CliHost): DaemonHost {
  return {
    env,
    cwd,
    clock,
    steadyClock,
    random: Math.random,
    version: readVersion(),
    log: createLogger({ level: 'warn', type: 'text', hasTime: false, clock, output: stderr }),
  };
}
