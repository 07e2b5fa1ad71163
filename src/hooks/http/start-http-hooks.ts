/** Creates the HTTP hooks of the operator with a watcher for their Secrets. */

import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { componentLog } from '@addon-operator/base/log';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { Redactor } from '@addon-operator/masking/redactor';
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
  readonly redactor: Pick<Redactor, 'add' | 'release'>;
  readonly stop: AbortSignal;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

/** HTTP hooks with their Secrets, which are watched from the first run that needs them. */
export function startHttpHooks(options: HttpHooksStart): HttpHooks {
  const { host, namespace, timeoutMs, hosts, check, reflectors, redactor, stop, running } = options;
  const { clock, random, version } = host;
  const end = new AbortController();
  running.defer(() => end.abort());
  return new HttpHooks({
    namespace,
    timeoutMs,
    hosts,
    check,
    clock,
    version,
    secrets: new SecretWatcher({
      reflectors,
      clock,
      random,
      log: componentLog(host, 'hooks'),
      redactor,
      // What a hook needs is looked up anew for each run.
      onChange: () => undefined,
      stop: AbortSignal.any([stop, end.signal]),
    }),
  });
}
