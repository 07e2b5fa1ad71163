import { systemClock } from '@addon-operator/base/clock';
import { AllowedHosts } from '../../src/hooks/http/allowed-hosts.ts';
import { HttpHooks, type HttpHooksOptions } from '../../src/hooks/http/http-hooks.ts';

/** HTTP hooks without any Secret, unless they are given. */
export function startHttpHooks(options: Partial<HttpHooksOptions> = {}): HttpHooks {
  return new HttpHooks({
    clock: systemClock,
    secrets: {
      follow: async () => undefined,
      keepOnly: () => undefined,
      lookup: () => ({ type: 'absent', why: '' }),
    },
    namespace: 'ns',
    timeoutMs: undefined,
    version: '1.2.3',
    check: () => undefined,
    hosts: new AllowedHosts({ entries: ['localhost', '127.0.0.1'] }),
    ...options,
  });
}
