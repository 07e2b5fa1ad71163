/** Tag of tests that prove what no API server can influence. The gate runs them on the sandbox alone. */
export const API_INDEPENDENT_TAG = 'api-independent';

/** Whether this run is one of `npm run test:all`. */
export function runsAllTests(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['TEST_ALL'] === '1';
}
