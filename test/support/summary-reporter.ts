import type { Reporter, TestModule } from 'vitest/node';
import { backendCoverage, type TestOutcome } from './backend-coverage.ts';

/** Ends a run with the one line that CI reads: `N passed, N failed, N skipped`; what was skipped is named before it. */
export default class SummaryReporter implements Reporter {
  /** A run that never ends orderly (a broken set-up, a crash) counts as one failure. */
  #lines: readonly string[] = ['0 passed, 1 failed, 0 skipped'];

  onInit(): void {
    process.on('exit', () => process.stdout.write(`\n${this.#lines.join('\n')}\n`));
  }

  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skipped: string[] = [];
    const outcomes: TestOutcome[] = [];
    for (const testModule of testModules) {
      const before = counts.failed;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        outcomes.push({ fullName: test.fullName, state: state === 'pending' ? 'skipped' : state });
        if (state === 'passed' || state === 'failed') counts[state] += 1;
        else {
          counts.skipped += 1;
          skipped.push(`skipped: ${testModule.relativeModuleId} > ${test.fullName}`);
        }
      }
      if (testModule.state() === 'failed' && counts.failed === before) counts.failed += 1;
    }
    const { lines, missing } = backendCoverage(outcomes);
    // Without a control plane half of them cannot run; where one is required, that is no excuse.
    if (process.env['REQUIRE_CLUSTER'] === '1' && missing.length > 0) {
      counts.failed += missing.length;
      process.exitCode = 1;
    }
    const summary = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
    this.#lines = [...skipped, ...missing, ...lines, summary];
  }
}
