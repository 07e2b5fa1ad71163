import { expect, test } from 'vitest';
import type { HistoryEntry } from '../delivery/history.ts';
import { versionViews } from './version-views.ts';

const at = (second: number): string => new Date(second * 1_000).toISOString();

/** The newest first. */
function revisionsOf(
  entries: readonly (readonly [string, number])[],
  revisions: readonly (readonly [number, string | null])[],
): readonly (readonly [string, number | null])[] {
  const history = entries.map(
    ([version, second]): HistoryEntry => ({
      version,
      digest: `sha256:${version}`,
      atMs: second * 1_000,
      outcome: 'replaced',
      hasValues: false,
    }),
  );
  const releases = revisions.map(([revision, deployedAt]) => ({ revision, deployedAt }));
  return versionViews(history, releases).map(({ version, revision }) => [version, revision]);
}

test('each version has the newest revision that was deployed while it ran', () => {
  const entries = [
    ['1.0.0', 30],
    ['1.1.0', 20],
    ['1.0.0', 10],
  ] as const;
  const revisions = [
    [4, at(31)],
    [3, at(25)],
    [2, at(20.5)],
    [1, at(11)],
  ] as const;
  expect(revisionsOf(entries, revisions)).toEqual([
    ['1.0.0', 4],
    ['1.1.0', 3],
    ['1.0.0', 1],
  ]);
});

test('a version that was not deployed, and a module without a chart, have no revision', () => {
  const entries = [
    ['1.1.0', 20],
    ['1.0.0', 10],
  ] as const;
  const revisions = [
    [2, at(11)],
    [1, at(5)],
  ] as const;
  expect(revisionsOf(entries, revisions)).toEqual([
    ['1.1.0', null],
    ['1.0.0', 2],
  ]);
  expect(revisionsOf(entries, [[1, null]])).toEqual([
    ['1.1.0', null],
    ['1.0.0', null],
  ]);
});
