/** Result of one test, as the reporter sees it. */
export interface TestOutcome {
  /** Names of the suites around it and of the test itself, joined by ` > `. */
  readonly fullName: string;
  /** `left-out` is what the gate leaves to `npm run test:all`. */
  readonly state: 'passed' | 'failed' | 'skipped' | 'left-out';
}

export interface BackendCoverage {
  /** One line a backend, for the end of the run. */
  readonly lines: readonly string[];
  /** Tests that ran on one backend only, but for those that were left out on the other. */
  readonly missing: readonly string[];
}

const SUITE = /^lifecycle on the (sandbox|control plane) > (.+)$/;

/** How the lifecycle tests went on each backend, and which of them did not run on both. */
export function backendCoverage(outcomes: readonly TestOutcome[]): BackendCoverage {
  const byBackend = new Map<string, Map<string, TestOutcome['state']>>();
  for (const { fullName, state } of outcomes) {
    const [, backend, name] = SUITE.exec(fullName) ?? [];
    if (backend === undefined || name === undefined) continue;
    const tests = byBackend.get(backend) ?? new Map<string, TestOutcome['state']>();
    byBackend.set(backend, tests.set(name, state));
  }
  if (byBackend.size === 0) return { lines: [], missing: [] };
  const backends = ['sandbox', 'control plane'];
  const isCoveredOn = (backend: string, name: string): boolean =>
    (byBackend.get(backend)?.get(name) ?? 'skipped') !== 'skipped';
  const names = new Set([...byBackend.values()].flatMap((tests) => [...tests.keys()]));
  return {
    lines: backends.map((backend) => {
      const states = [...(byBackend.get(backend)?.values() ?? [])];
      const count = (state: TestOutcome['state']): number => states.filter((other) => other === state).length;
      const leftOut = count('left-out') === 0 ? '' : `, left to test:all ${count('left-out')}`;
      return `lifecycle on the ${backend}: passed ${count('passed')}, failed ${count('failed')}, skipped ${count('skipped')}${leftOut}`;
    }),
    missing: [...names].flatMap((name) =>
      backends
        .filter((backend) => !isCoveredOn(backend, name))
        .map((backend) => `not run on the ${backend}: ${name}`),
    ),
  };
}
