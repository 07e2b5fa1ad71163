import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { backendCoverage, type TestOutcome } from './backend-coverage.ts';

const SLOW_TESTS = 10;
/** A file that runs longer keeps one worker busy while the others have nothing left to do: split it. */
const SLOW_FILE_MS = 90_000;

/**
 * Ends a run with the one line that CI reads: `N passed, N failed, N skipped`. What is slow and what was skipped is named
 * before it, and when vitest does not come to its end, what had failed until then and why.
 */
export default class SummaryReporter implements Reporter {
  /** A run that never ends orderly (a broken set-up, a crash) counts as one failure. */
  #lines: readonly string[] = ['0 passed, 1 failed, 0 skipped'];
  readonly #failures: string[] = [];

  onInit(): void {
    process.on('exit', () => process.stdout.write(`\n${[...this.#failures, ...this.#lines].join('\n')}\n`));
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state !== 'failed') return;
    const reasons = result.errors.map(({ message }) => message).join('\n');
    this.#failures.push(`failed: ${test.module.relativeModuleId} > ${test.fullName}: ${reasons}`);
  }

  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // The default reporter has printed them, with their places, but for those of a worker that has died.
    if (unhandledErrors.length === 0) this.#failures.length = 0;
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skipped: string[] = [];
    const outcomes: TestOutcome[] = [];
    const times: Timed[] = [];
    for (const testModule of testModules) {
      const file = `${testModule.project.name} ${testModule.relativeModuleId}`;
      const before = counts.failed;
      for (const test of testModule.children.allTests()) {
        const state = stateOf(test);
        outcomes.push({ fullName: test.fullName, state });
        times.push({ name: `${file} > ${test.fullName}`, ms: test.diagnostic()?.duration ?? 0 });
        if (state === 'passed' || state === 'failed') counts[state] += 1;
        else if (state === 'skipped') {
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
    const files = testModules.map((testModule) => ({
      name: `${testModule.project.name} ${testModule.relativeModuleId}`,
      ms: testModule.diagnostic().duration,
    }));
    const slowFiles = slowestFirst(files.filter(({ ms }) => ms > SLOW_FILE_MS));
    // Durations depend on what else the machine does, so that they are no condition of the gate.
    if (process.env['FAIL_SLOW_FILES'] === '1' && slowFiles.length > 0) {
      counts.failed += slowFiles.length;
      process.exitCode = 1;
    }
    const slow = [
      ...(times.length > SLOW_TESTS ** 2 ? slowestFirst(times).slice(0, SLOW_TESTS) : []),
      ...slowFiles,
    ];
    const summary = `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
    this.#lines = [...slow, ...skipped, ...missing, ...lines, summary];
  }
}

function stateOf(test: TestCase): TestOutcome['state'] {
  const { state } = test.result();
  if (state === 'passed' || state === 'failed') return state;
  const isLeftOut = test.project.config.tags.some(
    ({ name, skip }) => skip === true && test.tags.includes(name),
  );
  return isLeftOut ? 'left-out' : 'skipped';
}

/** A test, or a file of tests. */
interface Timed {
  readonly name: string;
  readonly ms: number;
}

function slowestFirst(tests: readonly Timed[]): readonly string[] {
  const sorted = tests.toSorted((a, b) => b.ms - a.ms);
  return sorted.map(({ name, ms }) => `slow: ${(ms / 1000).toFixed(1)} s ${name}`);
}
