import type { TestOptions } from 'vitest';

/** Tag of tests that prove what no API server can influence. The gate runs them on the sandbox alone. */
export const API_INDEPENDENT_TAG = 'api-independent';

/** Option of such tests. */
export const apiIndependent: TestOptions = { tags: [API_INDEPENDENT_TAG] };

/**
 * Tag of tests that repeat, with another version of helm 3, what the gate proves with its oldest and its newest version of
 * helm. `npm run test:all` runs them.
 */
export const FURTHER_HELM_TAG = 'further-helm';

/**
 * Tag of tests of the image and of pods that the gate has no time for. `npm run test:node` and `npm run test:all` run them.
 */
export const FURTHER_NODE_TAG = 'further-node';

/** Option of such tests. */
export const furtherNode: TestOptions = { tags: [FURTHER_NODE_TAG] };

/** Whether this run is one of `npm run test:all` or `npm run test:node`. */
export function runsAllTests(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['TEST_ALL'] === '1';
}
