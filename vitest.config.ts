import { defineConfig } from 'vitest/config';

const shared = { isolate: false, pool: 'forks' as const };

export default defineConfig({
  test: {
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/checks/**/*.test.ts', 'test/support/**/*.test.ts'],
          // Some start processes and threads, on a machine that is busy with other tests.
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'contract',
          include: ['test/contract/**/*.test.ts', 'test/docs/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts', 'test/fault/**/*.test.ts'],
          globalSetup: ['test/support/control-plane/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
