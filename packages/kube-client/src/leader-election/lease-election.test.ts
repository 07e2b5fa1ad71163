import { expect, test } from 'vitest';
import {
  type CandidateAction,
  candidateAction,
  type HolderFinding,
  holderFinding,
  observeLease,
  withoutReading,
} from './lease-election.ts';

const DURATION_MS = 35_000;
const held = (renewTime: string, more: object = {}) => ({
  holderIdentity: 'other',
  leaseDurationSeconds: 35,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime,
  leaseTransitions: 3,
  ...more,
});

test.each<[string, unknown, number, CandidateAction]>([
  ['there is no Lease', undefined, 0, { type: 'claim' }],
  ['the Lease is empty', {}, 0, { type: 'claim' }],
  ['it has no holder', held('a', { holderIdentity: '' }), 0, { type: 'claim' }],
  ['our own identity holds it', held('a', { holderIdentity: 'me' }), 0, { type: 'claim' }],
  ['another holds it', held('a'), 0, { type: 'wait', untilMs: 35_000 }],
  ['it was just seen alive', held('a'), 34_999, { type: 'wait', untilMs: 35_000 }],
  ['it showed no sign of life for its duration', held('a'), 35_000, { type: 'claim' }],
  [
    'its holder chose a longer duration',
    held('a', { leaseDurationSeconds: 60 }),
    35_000,
    { type: 'wait', untilMs: 60_000 },
  ],
  [
    'it does not say how long it lasts',
    held('a', { leaseDurationSeconds: null }),
    1,
    { type: 'wait', untilMs: 35_000 },
  ],
  ['it says it lasts no time', held('a', { leaseDurationSeconds: 0 }), 1, { type: 'wait', untilMs: 35_000 }],
  [
    'its holder renewed it in the year 1970',
    held('1970-01-01T00:00:00.000000Z'),
    1,
    { type: 'wait', untilMs: 35_000 },
  ],
])('candidateAction() when %s', (_case, spec, nowMs, action) => {
  expect(candidateAction(observeLease(undefined, spec, 0), 'me', DURATION_MS, nowMs)).toEqual(action);
});

test('observeLease() counts from the last change of the spec, with its keys in any order', () => {
  const first = observeLease(undefined, held('a'), 100);
  const { renewTime, ...rest } = held('a');
  expect(observeLease(first, { renewTime, ...rest }, 200)).toBe(first);
  expect(observeLease(first, held('b'), 300)).toMatchObject({ sinceMs: 300, spec: { holder: 'other' } });
});

test('observeLease() remembers the holder of a deleted Lease for its duration from then on', () => {
  const seen = observeLease(undefined, held('a'), 100);
  const deleted = observeLease(seen, undefined, 200);
  expect(candidateAction(deleted, 'me', DURATION_MS, 200)).toEqual({ type: 'wait', untilMs: 35_200 });
  expect(observeLease(deleted, undefined, 300)).toBe(deleted);
  expect(observeLease(deleted, held('a'), 300)).toMatchObject({ sinceMs: 300, isDeleted: false });
  expect(candidateAction(deleted, 'me', DURATION_MS, 35_200)).toEqual({ type: 'claim' });
});

test('withoutReading() lets a deletion count anew, and a Lease that did not change as before', () => {
  const seen = observeLease(undefined, held('a'), 100);
  expect(observeLease(withoutReading(seen), held('a'), 300)).toMatchObject({ sinceMs: 100 });
  const deleted = observeLease(seen, undefined, 200);
  expect(observeLease(withoutReading(deleted), undefined, 300)).toMatchObject({ sinceMs: 300 });
  expect(withoutReading(undefined)).toBeUndefined();
});

test.each<[string, unknown, HolderFinding]>([
  ['deleted', undefined, { type: 'gone' }],
  ['as we wrote it', { holderIdentity: 'me', acquireTime: 't' }, { type: 'ours' }],
  ['of another', { holderIdentity: 'other', acquireTime: 't' }, { type: 'taken', by: 'other' }],
  [
    'of another process under our identity',
    { holderIdentity: 'me', acquireTime: 'u' },
    { type: 'taken', by: 'me' },
  ],
  ['emptied by a person', { holderIdentity: '', acquireTime: 't' }, { type: 'taken', by: '' }],
])('holderFinding() for a Lease that is %s', (_case, spec, finding) => {
  expect(holderFinding(spec, 'me', 't')).toEqual(finding);
});
