import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import {
  API_INDEPENDENT_TAG,
  FURTHER_HELM_TAG,
  FURTHER_NODE_TAG,
  runsAllTests,
} from './test/support/api-independent.ts';
import { EndedProjectsReporter } from './test/support/ended-projects.ts';
import { GO_SETTINGS } from './test/support/go-settings.ts';
import { limitedWorkers } from './test/support/limited-workers.ts';
import { makeMemoryDirectory } from './test/support/memory-directory.ts';
import { SlowFilesFirst } from './test/support/slow-files-first.ts';

// Programs that tests start from sources compile 800 files: with the cache that takes half the time, or a third.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/node-compile');
// helm, kubectl and the control plane: see `go-settings.ts`.
Object.assign(process.env, { ...GO_SETTINGS, ...process.env });
const temporary = process.env['TMPDIR'] ?? makeMemoryDirectory();
if (temporary !== undefined) process.env['TMPDIR'] = temporary;

/**
 * More than CI has cores, two: most tests wait for helm, hooks and servers. Unit tests wait least. With more of them the
 * cores have no more to do, and each test takes more CPU time.
 */
const WORKERS = Number(process.env['TEST_WORKERS'] ?? 5);
const UNIT_WORKERS = Number(process.env['TEST_WORKERS'] ?? 3);
const shared = {
  isolate: false,
  pool: 'forks' as const,
  maxWorkers: WORKERS,
  alias: [
    { find: /^.*\/own-code(?:\.ts)?$/, replacement: join(import.meta.dirname, 'test/support/built-code.ts') },
  ],
};
/** Of projects whose tests run daemons in their own process: see `shared-launcher.ts`. */
const withDaemons = {
  ...shared,
  alias: [
    ...shared.alias,
    {
      find: /^\.\/launcher-process\.ts$/,
      replacement: join(import.meta.dirname, 'test/support/shared-launcher.ts'),
    },
  ],
};
const API_INDEPENDENT = {
  name: API_INDEPENDENT_TAG,
  description: 'No API server can influence it: in the gate on the sandbox only',
};
const FURTHER_HELM = {
  name: FURTHER_HELM_TAG,
  description: 'Repeats with another helm 3 what the oldest and the newest helm prove in the gate',
};
const FURTHER_NODE = {
  name: FURTHER_NODE_TAG,
  description: 'Takes longer than the tests of the image and of pods may take in the gate',
};
/** What the gate leaves to other commands. */
const leftOut = <T extends object>(...tags: T[]) =>
  tags.map((tag) => ({ ...tag, skip: !runsAllTests(process.env) }));
/** A sequencer that is named wins over this flag. */
const isShuffled = process.argv.some((argument) => argument.startsWith('--sequence.shuffle'));
/**
 * Projects of one group share their workers. The files of `node` and `cluster` take longest together: they begin at once, in so
 * many of them. Those of `contract` and `browser` have the others, and in the end all.
 */
const AFTER_UNIT = 1;
/** Each has a control plane, which takes 4 s of CPU time to start and 1.3 s a minute. */
const CONTROL_PLANES = 3;
const LIFECYCLE = 'test/lifecycle/**/*.test.ts';
const PROPERTIES = 'test/support/property-seed.ts';
export default defineConfig({
  test: {
    ...(isShuffled ? {} : { sequence: { sequencer: SlowFilesFirst } }),
    reporters: ['default', new EndedProjectsReporter(), './test/support/summary-reporter.ts'],
    projects: [
      {
        test: {
          ...shared,
          maxWorkers: UNIT_WORKERS,
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'packages/**/*.test.ts',
            'release/**/*.test.ts',
            'ui/**/*.test.ts',
            'test/checks/**/*.test.ts',
            'test/support/**/*.test.ts',
          ],
          setupFiles: [PROPERTIES],
          globalSetup: ['test/support/build-program.ts'],
          // Some start processes and threads, on a machine that is busy with other tests.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...withDaemons,
          name: 'contract',
          include: ['test/contract/**/*.test.ts', 'test/docs/**/*.test.ts', LIFECYCLE],
          tags: [API_INDEPENDENT],
          provide: { lifecycleBackend: 'sandbox' as const },
          setupFiles: [PROPERTIES],
          globalSetup: ['test/support/build-program.ts'],
          sequence: { groupOrder: AFTER_UNIT },
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/support/build-program.ts'],
          sequence: { groupOrder: AFTER_UNIT },
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...withDaemons,
          pool: limitedWorkers(CONTROL_PLANES),
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts', 'test/fault/**/*.test.ts', LIFECYCLE],
          tags: leftOut(API_INDEPENDENT, FURTHER_HELM),
          provide: { lifecycleBackend: 'control plane' as const },
          setupFiles: [PROPERTIES],
          sequence: { groupOrder: AFTER_UNIT },
          globalSetup: ['test/support/build-program.ts', 'test/support/control-plane/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
        },
      },
      {
        test: {
          ...shared,
          // The files share one node.
          pool: limitedWorkers(1),
          name: 'node',
          include: ['test/node/**/*.test.ts'],
          tags: leftOut(FURTHER_NODE),
          sequence: { groupOrder: AFTER_UNIT },
          globalSetup: ['test/support/build-program.ts', 'test/support/node/global-setup.ts'],
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
