import { expect, test } from 'vitest';
import { valuesChecksum } from './checksum.ts';

test('valuesChecksum() is the MD5 of compact key-sorted JSON', () => {
  expect(valuesChecksum({})).toBe('99914b932bd37a50b983c5e7c90ae93b');
  expect(valuesChecksum({ b: [1], a: { d: 1, c: null } })).toBe(
    valuesChecksum({ a: { c: null, d: 1 }, b: [1] }),
  );
  expect(valuesChecksum({ l: [1, 2] })).not.toBe(valuesChecksum({ l: [2, 1] }));
});
