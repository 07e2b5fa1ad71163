import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';

test('oneLine() joins lines and escapes what a terminal would act on', () => {
  expect(oneLine('\n\tErrors:\n\t- a: \u001b[31mno disk\n')).toBe(String.raw`Errors: - a: \u001b[31mno disk`);
});
