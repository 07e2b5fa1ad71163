import { findExecutable } from '@addon-operator/process/executable-file';

/** As Debian, other distributions and Google name it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * Path of a Chromium: `CHROMIUM_PATH`, else the first one of PATH. Undefined without one; the tests of the page are skipped
 * then, by name. Only `.ci/run` installs it.
 */
export function findChromium(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const chosen = env['CHROMIUM_PATH'] ?? '';
  if (chosen !== '') return chosen;
  return NAMES.map((name) => findExecutable(name, env['PATH'] ?? '')).find((file) => file !== undefined);
}
