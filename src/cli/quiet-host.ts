import { createLogger } from '@addon-operator/logging/json-logger';
import type { DaemonHost } from '../app/host.ts';
import { BUILT_CODE } from '../own-code.ts';
import type { CliHost } from './cli-host.ts';
import { daemonHost } from './daemon-host.ts';

/** For commands that use parts of the daemon: warnings and errors go to stderr, for people, the rest nowhere. */
export function quietHost(host: CliHost): DaemonHost {
  const { clock, stderr } = host;
  return daemonHost(
    host,
    createLogger({
      level: 'warn',
      type: 'text',
      hasTime: false,
      clock,
      output: stderr,
      builtCode: BUILT_CODE,
    }),
  );
}
