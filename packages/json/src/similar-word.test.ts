import { expect, test } from 'vitest';
import { didYouMean, similarWord } from './similar-word.ts';

const WORDS = ['queue', 'config', 'module', 'global', 'jqFilter', 'kubernetes'];

test.each([
  ['modul', 'module'],
  ['moduel', 'module'],
  ['kubernets', 'kubernetes'],
  ['jqfilter', 'jqFilter'],
  ['quue', 'queue'],
  ['queue', 'queue'],
  ['frobnicate', undefined],
  ['x', undefined],
  ['', undefined],
])('for %s a user means %s', (word, meant) => {
  expect(similarWord(word, WORDS)).toBe(meant);
});

test('didYouMean() is empty without a similar word', () => {
  expect(didYouMean('globl', WORDS)).toBe(' (did you mean "global"?)');
  expect(didYouMean('nothing', WORDS)).toBe('');
});
