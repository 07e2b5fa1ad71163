import { errorText } from '@addon-operator/base/error-text';
import { parseGoDuration } from '@addon-operator/base/go-duration';
import { rfc3339 } from '@addon-operator/base/rfc3339';
import { requestDebug } from '../server/debug-client.ts';
import type { CliHost } from './cli-host.ts';
import { harmless } from './harmless.ts';

const DEFAULT_INTERVAL_MS = 1_000;
const ENTER_ALTERNATE_SCREEN = '\u001b[?1049h';
const LEAVE_ALTERNATE_SCREEN = '\u001b[?1049l';
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/**
 * Shows an answer of the debug endpoint again and again, on the alternate screen and under the time of each look, until
 * the process is asked to stop. A daemon that does not answer is shown as that, for it may come back.
 *
 * @param interval Go duration; a wrong one means a second
 * @param toText how a success is shown; absent: as it is
 */
export async function watchAnswer(
  socketPath: string,
  path: string,
  interval: string,
  host: CliHost,
  toText: (body: string) => string = (body) => body,
): Promise<number> {
  const signal = host.stopSignal();
  const intervalMs = parseGoDuration(interval) ?? 0;
  host.stdout.write(ENTER_ALTERNATE_SCREEN);
  try {
    while (!signal.aborted) {
      const text = await requestDebug({ socketPath, path }, host.clock, signal).then(
        ({ status, body }) => (status === 200 ? toText(body) : body),
        errorText,
      );
      if (signal.aborted) break;
      host.stdout.write(`${CLEAR_SCREEN}${rfc3339(host.clock.wallMs())}\n\n${harmless(text)}\n`);
      const pauseMs = intervalMs > 0 ? intervalMs : DEFAULT_INTERVAL_MS;
      await host.clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  } finally {
    host.stdout.write(LEAVE_ALTERNATE_SCREEN);
  }
  return 0;
}
