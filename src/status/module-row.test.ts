import { expect, test } from 'vitest';
import { readySummary } from '../../test/support/module-explanations.ts';
import { moduleRow } from './module-row.ts';

const READY = readySummary('web', { reason: 'webEnabled is true' });

test('a row leaves out what is empty', () => {
  expect(moduleRow(READY, undefined)).toEqual({
    module: 'web',
    status: 'ready',
    since: READY.since,
    source: 'config-map',
    reason: 'webEnabled is true',
  });
});

test('a row of a module that is ready says what keeps it from following changes', () => {
  expect(moduleRow({ ...READY, heldUpBy: 'hook a.sh has been running since …' }, undefined)).toMatchObject({
    status: 'ready',
    since: READY.since,
    heldUpBy: 'hook a.sh has been running since …',
  });
});

test('a row has the beginning of what holds a module up, and not what it waits for besides', () => {
  const summary = {
    ...READY,
    waitsFor: ['a', 'b'],
    heldUpBy: `GlobalHookRun a.sh fails: ${'e'.repeat(1_000)}`,
  };
  const row = moduleRow(summary, undefined);
  expect(row).toEqual({
    module: 'web',
    status: 'ready',
    since: READY.since,
    source: 'config-map',
    reason: 'webEnabled is true',
    heldUpBy: expect.stringMatching(/^GlobalHookRun a\.sh fails: e+…$/),
  });
  expect(row.heldUpBy).toHaveLength(90);
});

test('a row has the nearest thing a module waits for, the end of its error, and its last run', () => {
  const summary = {
    ...READY,
    status: 'failing' as const,
    reason: 'r'.repeat(1_000),
    waitsFor: ['w'.repeat(1_000), 'b', 'c'],
    lastError: `${'e'.repeat(1_000)} no disk`,
    nextTryAt: '2026-01-01T00:00:00Z',
    paused: { reason: 'p'.repeat(1_000), until: null },
  };
  const last = { startedAt: '2026-01-01T00:00:00Z', durationMs: 1.5, result: 'failed' as const };
  const row = moduleRow(summary, { last, recent: 'sf' });
  expect(row).toMatchObject({
    waitsFor: expect.stringMatching(/^w{79}…$/),
    moreWaits: 2,
    lastError: expect.stringMatching(/^…e+ no disk$/),
    nextTryAt: '2026-01-01T00:00:00Z',
    paused: { reason: expect.stringMatching(/^p{79}…$/), until: null },
    lastRun: { startedAt: '2026-01-01T00:00:00Z', durationMs: 2 },
    recent: 'sf',
  });
  expect(JSON.stringify(row).length).toBeLessThan(700);
});
