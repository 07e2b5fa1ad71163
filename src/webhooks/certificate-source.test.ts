import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { openCertificateSource } from './certificate-source.ts';

const certificate = (cert: string) => ({ cert, key: 'k', ca: 'a', expiresMs: 0 });

test('it looks every 30 s, reports changes only, and keeps the last one through failures', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const responses: (string | Error)[] = ['one', 'one', new Error('away'), 'two'];
  const source = await openCertificateSource(
    {
      clock,
      log: silentLogger,
      load: async () => {
        const response = responses.shift() ?? 'two';
        if (response instanceof Error) throw response;
        return certificate(response);
      },
    },
    stop.signal,
  );
  const reported: string[] = [];
  const unsubscribe = source.certificates.onChange(({ cert }) => reported.push(cert));
  const ended = source.run(stop.signal);
  await clock.advance(60_000);
  expect([source.certificates.current.cert, reported]).toEqual(['one', []]);
  await clock.advance(30_000);
  expect([source.certificates.current.cert, reported]).toEqual(['two', ['two']]);
  unsubscribe();
  stop.abort();
  await ended;
});
