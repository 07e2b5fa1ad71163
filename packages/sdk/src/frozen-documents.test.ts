import { expect, test } from 'vitest';
import { FrozenDocuments } from './frozen-documents.ts';

test('the same text is the same frozen document again, and only the last two are kept', () => {
  const documents = new FrozenDocuments();
  const [one, two] = [documents.of('{"a":[1]}'), documents.of('{"b":2}')];
  expect([documents.of('{"a":[1]}') === one, documents.of('{"b":2}') === two]).toEqual([true, true]);
  expect(Object.isFrozen((one as { a: unknown }).a)).toBe(true);
  documents.of('null');
  expect([documents.of('{"b":2}') === two, documents.of('{"a":[1]}') === one]).toEqual([true, false]);
});
