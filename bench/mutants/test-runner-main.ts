import { join } from 'node:path';
import process from 'node:process';
import { createVitest, type Vitest } from 'vitest/node';

// Runs tests of a copy of the checkout for `mutants.ts`, again and again in one vitest: what has not changed is not
// transformed again. A process of its own, because a fault may make it hang.

/** Which files were changed since the last request, and which tests to run. Paths are relative to the copy. */
export interface TestRequest {
  readonly changed: readonly string[];
  readonly tests: readonly string[];
}

export interface TestResponse {
  /** Paths of the files with a test that failed, or `error` for one outside of tests. */
  readonly failed: readonly string[];
}

const TEST_TIMEOUT_MS = 20_000;

const root = process.argv[2] ?? '';
process.chdir(root);
const vitest = await createVitest(
  { root, config: false, watch: false, bail: 1, reporters: [{}], silent: true },
  {
    test: {
      isolate: false,
      pool: 'threads',
      maxWorkers: 1,
      include: ['src/**/*.test.ts', 'packages/**/*.test.ts'],
      setupFiles: ['test/support/property-seed.ts'],
      testTimeout: TEST_TIMEOUT_MS,
      hookTimeout: TEST_TIMEOUT_MS,
      alias: [{ find: /^.*\/own-code(?:\.ts)?$/, replacement: join(root, 'test/support/built-code.ts') }],
    },
  },
);
await vitest.standalone();

process.on('message', (request: TestRequest) => {
  run(vitest, request).then(
    (response) => process.send?.(response),
    (error: unknown) => process.send?.({ failed: [String(error)] } satisfies TestResponse),
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function run(vitest: Vitest, { changed, tests }: TestRequest): Promise<TestResponse> {
  for (const file of changed) vitest.invalidateFile(join(root, file));
  // What failed before counts for `bail` as well.
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  vitest.state.clearErrors();
  const [project] = vitest.projects;
  if (project === undefined) throw new Error('vitest has no project');
  const specifications = tests.map((file) => project.createSpecification(join(root, file)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const failed = testModules
    .filter((module) => !module.ok())
    .map(({ moduleId }) => moduleId.slice(root.length + 1));
  return { failed: unhandledErrors.length > 0 ? [...failed, 'error'] : failed };
}
