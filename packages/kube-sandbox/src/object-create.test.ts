import { expect, test } from 'vitest';
import { generateName } from './object-create.ts';

test('generateName() adds five letters, and shortens what would be too long', () => {
  expect(generateName('run-', () => 0.999)).toBe('run-99999');
  expect(generateName('a'.repeat(80), () => 0)).toBe(`${'a'.repeat(58)}bbbbb`);
});
