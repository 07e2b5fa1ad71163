import { expect, test } from 'vitest';
import type { HandOverEntry } from './hand-over-entry.ts';
import {
  type HandOverState,
  NOT_HANDED_OVER,
  nextHandOverStep,
  observeHandOver,
  permitHolder,
  removeHandOver,
} from './hand-over-owner.ts';

const DURATION_MS = 15_000;

/** An entry of `holder`, renewed at `renewed`, with the fields given. */
function entry(holder: string, renewed = 0, fields: Partial<HandOverEntry> = {}): HandOverEntry {
  const renewTime = String(renewed);
  return {
    holder,
    durationMs: DURATION_MS,
    acquireTime: holder,
    renewTime,
    releasedBy: '',
    note: undefined,
    ...fields,
  };
}

/** The note that permits `holder` to act. */
function accepted(holder: string): Pick<HandOverEntry, 'note'> {
  return { note: { holder, by: 'operator', state: 'accepted', facts: {} } };
}

/** The state after `alice` was permitted to act at 0, and has renewed the entry at each of the times. */
function away(...renewals: readonly number[]): HandOverState {
  let state = permitHolder(observeHandOver(NOT_HANDED_OVER, entry('alice'), 0), 'alice');
  state = observeHandOver(state, entry('alice', 0, accepted('alice')), 0);
  for (const ms of renewals) state = observeHandOver(state, entry('alice', ms, accepted('alice')), ms);
  return state;
}

test('something is handed over when a process wants it, and the owner waits until the process has let it lapse', () => {
  const wanted = observeHandOver(NOT_HANDED_OVER, entry('alice'), 0);
  expect(nextHandOverStep(wanted, 0)).toEqual({ type: 'hand-over', holder: 'alice' });
  expect(nextHandOverStep(away(), 1_000)).toEqual({ type: 'wait', untilMs: DURATION_MS });
  expect(nextHandOverStep(away(5_000), 6_000)).toEqual({ type: 'wait', untilMs: 20_000 });
  expect(nextHandOverStep(away(5_000), 20_000)).toEqual({ type: 'take-back' });
});

test('a process that was permitted may act until its entry lapses, even if that is read no more', () => {
  const permitted = permitHolder(observeHandOver(NOT_HANDED_OVER, entry('alice'), 1_000), 'alice');
  const removed = removeHandOver(permitted);
  expect(nextHandOverStep(removed, 2_000)).toEqual({ type: 'wait', untilMs: 1_000 + DURATION_MS });
  expect(nextHandOverStep(removed, 1_000 + DURATION_MS)).toEqual({ type: 'act' });
});

test.each<[string, HandOverEntry | undefined, number, object]>([
  [
    'was given back',
    entry('', 1, { releasedBy: 'alice', ...accepted('alice') }),
    6_000,
    { type: 'take-back' },
  ],
  ['is wanted back', entry('', 1, accepted('alice')), 6_000, { type: 'wait', untilMs: 21_000 }],
  ['is wanted back, and its holder has stopped', entry('', 1), 21_000, { type: 'take-back' }],
  ['was removed by hand', undefined, 6_000, { type: 'wait', untilMs: 21_000 }],
  ['was removed by hand, and its holder has stopped', undefined, 21_000, { type: 'act' }],
  ['was taken by another', entry('bob', 6, accepted('alice')), 6_000, { type: 'wait', untilMs: 21_000 }],
  [
    'was taken by another, and its holder has stopped',
    entry('bob', 6, { durationMs: 60_000, ...accepted('alice') }),
    21_000,
    { type: 'hand-over', holder: 'bob' },
  ],
  [
    'was given back and is wanted by another',
    entry('bob', 6, { releasedBy: 'alice', ...accepted('alice') }),
    6_000,
    { type: 'hand-over', holder: 'bob' },
  ],
  [
    'was given back by another than the one who may act',
    entry('', 6, { releasedBy: 'bob', ...accepted('alice') }),
    6_000,
    { type: 'wait', untilMs: 21_000 },
  ],
  [
    'was taken by another, which another owner permitted, and whose former holder has stopped',
    entry('bob', 6, { durationMs: 60_000, ...accepted('bob') }),
    21_000,
    { type: 'hand-over', holder: 'bob' },
  ],
  ['lost its note', entry('alice', 6), 6_000, { type: 'hand-over', holder: 'alice' }],
])('an entry that %s', (_case, read, nowMs, step) => {
  expect(nextHandOverStep(observeHandOver(away(5_000), read, 6_000), nowMs)).toEqual(step);
});

test.each<[string, HandOverEntry | undefined, object]>([
  [
    'keeps to what the one before it permitted',
    entry('alice', 1, accepted('alice')),
    { type: 'wait', untilMs: 16_000 },
  ],
  [
    'hands over what the one before it had begun to',
    entry('alice', 1),
    { type: 'hand-over', holder: 'alice' },
  ],
  [
    'waits for a process that the one before it permitted to act',
    entry('bob', 1, accepted('alice')),
    { type: 'wait', untilMs: 16_000 },
  ],
  ['acts without an entry', undefined, { type: 'act' }],
])('a new owner %s', (_case, read, step) => {
  expect(nextHandOverStep(observeHandOver(NOT_HANDED_OVER, read, 1_000), 1_000)).toEqual(step);
});

test('an entry that the owner has removed as it was read needs no further wait', () => {
  const removed = observeHandOver(removeHandOver(away(5_000)), undefined, 20_000);
  expect(nextHandOverStep(removed, 20_000)).toEqual({ type: 'act' });
});

test('a permission counts from before it is written: it may arrive although no response does', () => {
  const state = permitHolder(observeHandOver(NOT_HANDED_OVER, entry('alice'), 0), 'alice');
  expect(nextHandOverStep(observeHandOver(state, undefined, 1_000), 1_000)).toEqual({
    type: 'wait',
    untilMs: 16_000,
  });
});
