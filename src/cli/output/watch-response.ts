import { errorText } from '@addon-operator/base/error-text';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import { rfc3339 } from '@addon-operator/strings/rfc3339';
import { requestDebug } from '../../server/debug-client.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { ChangeFeed } from './change-feed.ts';
import type { ResponseView } from './print-response.ts';
import { watchOutput } from './watch-output.ts';

const DEFAULT_INTERVAL_MS = 1_000;
/** A countdown, an age, or how long something has been running. */
const SECONDS = /\d ?s left\b|\bwaits \d+ s\b|\bruns for \d+ s\b| \d+s(?: |$)/m;

/**
 * Shows a response of the debug endpoint until the process is asked to stop, whenever the operator reports a change: on the
 * alternate screen of a terminal under the time, which is drawn anew at each interval, elsewhere the lines that are new. An operator
 * that does not respond is shown as that, for it may come back.
 *
 * @param interval Go duration; a wrong one means a second. Without reports, and at a response that counts seconds, requests are sent as often
 */
export async function watchResponse(
  socketPath: string,
  path: string,
  interval: string,
  host: CliHost,
  { toText = (body) => body, paint }: ResponseView = {},
): Promise<number> {
  const stop = host.stopSignal();
  const givenMs = parseGoDuration(interval) ?? 0;
  const intervalMs = givenMs > 0 ? givenMs : DEFAULT_INTERVAL_MS;
  const end = new AbortController();
  const signal = AbortSignal.any([stop, end.signal]);
  const feed = new ChangeFeed(host.clock, signal);
  const following = feed.follow(socketPath, path);
  const output = watchOutput(host.stdout, paint);
  try {
    let [text, isOld] = ['', true];
    while (!stop.aborted) {
      if (isOld)
        text = await requestDebug({ socketPath, path }, host.clock, stop).then(
          ({ status, body }) => (status === 200 ? toText(body) : body),
          errorText,
        );
      if (stop.aborted) break;
      output.show(rfc3339(host.clock.wallMs()), harmless(text));
      isOld = await feed.next(intervalMs, SECONDS.test(text));
    }
  } finally {
    output.end();
    end.abort();
    await following;
  }
  return 0;
}
