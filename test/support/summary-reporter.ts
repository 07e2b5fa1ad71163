import type { Reporter, TestModule } from 'vitest/node';

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
    for (const testModule of testModules) {
      const before = counts.failed;
      for (const test of testModule.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed') counts[state] += 1;
        else {
          counts.skipped += 1;
          skipped.push(`skipped: ${testModule.relativeModuleId} > ${test.fullName}`);
        }
      }
      if (testModule.state() === 'failed' && counts.failed === before) counts.failed += 1;
    }
    const summary = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
    this.#lines = [...skipped, summary];
  }
}
