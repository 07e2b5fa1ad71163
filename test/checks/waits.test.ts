import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { waitProblems } from './waits.ts';

test('every wait of a test has a limit of its own, and no duration on a clock decides whether a test passes', () => {
  const problems = ['src', 'packages', 'ui', 'test'].flatMap((directory) =>
    readdirSync(join(projectRoot, directory), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules') && !file.includes('waits'))
      .flatMap((file) =>
        waitProblems(readFileSync(join(projectRoot, directory, file), 'utf8')).map(
          (problem) => `${directory}/${file}: ${problem}`,
        ),
      )
      .filter((problem) => directory === 'test' || /\.test\.ts: /.test(problem)),
  );
  expect(problems).toEqual([]);
});

test.each([
  'await vi.waitFor(() => expect(list).toEqual([1, 2]));',
  "await vi.waitFor(\n  async () => expect(await said(a, ')')).toEqual({ b: ',' }),\n);",
  'await expect.poll(() => a).toBe(b);',
  'expect(performance.now() - startedMs).toBeLessThan(1_000);',
  'expect(clock.steadyMs() - startMs).toBeLessThan(1_000);',
])('a test with %j is found', (source) => {
  expect(waitProblems(source)).toHaveLength(1);
});

test.each([
  'await vi.waitFor(() => expect(list).toEqual([1, 2]), WAIT);',
  'await vi.waitFor(\n  () => expect(list).toEqual([1, 2]),\n  60_000,\n);',
  'await expect\n  .poll(() => `${a}, ${b}`, { timeout: 60_000 })\n  .toBe(b);',
  'expect(clock.steadyMs() - startMs).toBe(5_000);',
])('a test with %j is not', (source) => {
  expect(waitProblems(source)).toEqual([]);
});
