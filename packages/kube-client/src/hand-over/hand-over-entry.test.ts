import { expect, test } from 'vitest';
import {
  changeHandOver,
  handOverKey,
  holderName,
  nameOfHandOver,
  parseHandOver,
  signOfLife,
  wantedBack,
  withEnd,
  withNote,
} from './hand-over-entry.ts';

const HELD = JSON.stringify({
  holderIdentity: 'alice@laptop_3f2a',
  leaseDurationSeconds: 20,
  acquireTime: '2026-05-31T17:00:00.000000Z',
  renewTime: '2026-05-31T17:00:03.000000Z',
});
const NOTE = {
  holder: 'alice@laptop_3f2a',
  by: 'pod',
  state: 'accepted' as const,
  facts: { enabledModules: ['a'] },
};

test('parseHandOver() reads the fields of a Lease, and what the owner noted', () => {
  expect(parseHandOver(withNote(HELD, NOTE))).toEqual({
    holder: 'alice@laptop_3f2a',
    durationMs: 20_000,
    acquireTime: '2026-05-31T17:00:00.000000Z',
    renewTime: '2026-05-31T17:00:03.000000Z',
    releasedBy: '',
    note: NOTE,
  });
});

test.each([
  ['no entry', undefined, undefined],
  ['text', 'by hand', undefined],
  ['a list', '[]', undefined],
  [
    'odd fields',
    '{"holderIdentity":1,"leaseDurationSeconds":"x","owner":{"state":"?","holder":"a"}}',
    { holder: '', durationMs: 15_000, acquireTime: '', renewTime: '', releasedBy: '', note: undefined },
  ],
])('parseHandOver() takes %s', (_case, text, entry) => {
  expect(parseHandOver(text)).toEqual(entry);
});

test('a note of the owner is no sign of life of the holder, and an entry that is wanted back has no holder', () => {
  expect(signOfLife(parseHandOver(withNote(HELD, NOTE)))).toBe(signOfLife(parseHandOver(HELD)));
  expect(parseHandOver(wantedBack(HELD))).toMatchObject({ holder: '', releasedBy: '' });
});

test.each([
  ['held by it', HELD, { holder: '', releasedBy: 'alice@laptop_3f2a' }],
  [
    'held by another process',
    HELD.replace('alice@', 'bob@'),
    { holder: 'bob@laptop_3f2a', releasedBy: 'alice@laptop_3f2a' },
  ],
  ['wanted back', wantedBack(HELD), { holder: '', releasedBy: 'alice@laptop_3f2a' }],
])('the end of a holder is noted in an entry that is %s', (_case, text, entry) => {
  const ended = withEnd(withNote(text, NOTE), 'alice@laptop_3f2a');
  expect(parseHandOver(ended)).toMatchObject({ ...entry, note: NOTE });
});

test('what is no entry stays as it is when a holder has ended, and none is made', () => {
  const end = (text: string): string => withEnd(text, 'alice@laptop_3f2a');
  expect(changeHandOver({ 'handover.web': 'by hand', other: '1' }, 'web', end)).toEqual({
    'handover.web': 'by hand',
    other: '1',
  });
  expect(changeHandOver({ other: '1' }, 'web', end)).toEqual({ other: '1' });
});

test('keys name what is handed over, and holders are shown without what distinguishes their processes', () => {
  expect(nameOfHandOver(handOverKey('web'))).toBe('web');
  expect(nameOfHandOver('web')).toBeUndefined();
  expect([holderName('alice@my_laptop_3f2a'), holderName('')]).toEqual(['alice@my_laptop', '']);
});
