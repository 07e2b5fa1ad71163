import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

/** What a run prints last, in which one test fails and then `end` happens. */
async function lastLines(end: string): Promise<string> {
  const script = `
    import SummaryReporter from ${JSON.stringify(join(import.meta.dirname, 'summary-reporter.ts'))};
    const reporter = new SummaryReporter();
    reporter.onInit();
    reporter.onTestCaseResult({
      module: { relativeModuleId: 'a.test.ts' },
      fullName: 'adds',
      result: () => ({ state: 'failed', errors: [{ message: 'expected 1 to be 2' }] }),
    });
    ${end}`;
  const { stdout } = await execa(process.execPath, ['--input-type=module', '--no-warnings', '-e', script]);
  return stdout;
}

test.each([
  ['vitest itself ends', ''],
  [
    'a worker dies, whose results the default reporter does not print',
    "reporter.onTestRunEnd([], [new Error('gone')]);",
  ],
])('a failed test and its reason are printed when %s', async (_case, end) => {
  const printed = await lastLines(end);
  expect(printed).toBe('\nfailed: a.test.ts > adds: expected 1 to be 2\n0 passed, 1 failed, 0 skipped');
});
