import { expect, test } from 'vitest';
import { backendCoverage } from './backend-coverage.ts';

test('backendCoverage() counts per backend and finds tests that ran on one of them only', () => {
  const { lines, missing } = backendCoverage([
    { fullName: 'lifecycle on the sandbox > a', state: 'passed' },
    { fullName: 'lifecycle on the sandbox > b', state: 'passed' },
    { fullName: 'lifecycle on the control plane > a', state: 'failed' },
    { fullName: 'lifecycle on the control plane > b', state: 'skipped' },
    { fullName: 'something else', state: 'passed' },
  ]);
  expect(lines).toEqual([
    'lifecycle on the sandbox: passed 2, failed 0, skipped 0',
    'lifecycle on the control plane: passed 0, failed 1, skipped 1',
  ]);
  expect(missing).toEqual(['not run on the control plane: b']);
});

test('backendCoverage() counts tests that one backend skips separately, and requires them on the other', () => {
  const { lines, missing } = backendCoverage([
    { fullName: 'lifecycle on the sandbox > a', state: 'passed' },
    { fullName: 'lifecycle on the sandbox > b', state: 'skipped' },
    { fullName: 'lifecycle on the control plane > a', state: 'left-out' },
    { fullName: 'lifecycle on the control plane > b', state: 'left-out' },
  ]);
  expect(lines).toEqual([
    'lifecycle on the sandbox: passed 1, failed 0, skipped 1',
    'lifecycle on the control plane: passed 0, failed 0, skipped 0, left to test:all 2',
  ]);
  expect(missing).toEqual(['not run on the sandbox: b']);
});

test('backendCoverage() returns nothing for a run without lifecycle tests', () => {
  expect(backendCoverage([{ fullName: 'other', state: 'passed' }])).toEqual({ lines: [], missing: [] });
});
