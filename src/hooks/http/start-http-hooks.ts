import type { SharedReflectors } from '../../kube/reflector-sink.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { componentLog } from '../../lib/log.ts';
import type { Redactor } from '../../lib/redactor.ts';
import { SecretWatcher } from '../../values/secrets/secret-watcher.ts';
import { HttpHooks, type HttpHooksOptions } from './http-hooks.ts';

export interface HttpHooksStart
  extends Pick<HttpHooksOptions, 'namespace' | 'timeoutMs' | 'hosts' | 'check'> {
  readonly host: {
    readonly clock: Clock;
    /** A number in [0, 1), for the jitter of retries. */
    readonly random: () => number;
    readonly log: Logger;
    readonly version: string;
  };
  readonly reflectors: SharedReflectors;
  /** Learns the content of Secrets that hooks use. */
  readonly redactor: Pick<Redactor, 'add'>;
  readonly stop: AbortSignal;
  /** What has to be ended is entered here. */
  readonly running: AsyncDisposableStack;
}

/** HTTP hooks with their Secrets, which are watched from the first run that needs them. */
export function startHttpHooks(options: HttpHooksStart): HttpHooks {
  const { host, reflectors, redactor, stop, running, ...settings } = options;
  const { clock, random, version } = host;
  const end = new AbortController();
  running.defer(() => end.abort());
  return new HttpHooks({
    ...settings,
    clock,
    version,
    secrets: new SecretWatcher({
      reflectors,
      clock,
      random,
      log: componentLog(host, 'hooks'),
      onText: (text) => redactor.add(text),
      // What a hook needs is looked up anew for each run.
      onChange: () => undefined,
      stop: AbortSignal.any([stop, end.signal]),
    }),
  });
}
