import { expect, test } from 'vitest';
import { errorText } from '../lib/error-text.ts';
import { parseConversionResponse } from './conversion-response.ts';

test('an empty file is no answer', () => {
  expect(parseConversionResponse('')).toBeUndefined();
  expect(parseConversionResponse(' \n')).toBeUndefined();
});

test('converted objects keep large integers as they were written', () => {
  const text = '{"convertedObjects":[{"spec":{"n":9007199254740993}}]}';
  const response = parseConversionResponse(text);
  expect(response?.type).toBe('converted');
  expect(JSON.stringify(response)).toContain('"n":9007199254740993');
});

test('failedMessage wins over objects, an empty one counts as none', () => {
  expect(parseConversionResponse('{"failedMessage":"no","convertedObjects":[]}')).toEqual({
    type: 'failed',
    message: 'no',
  });
  expect(parseConversionResponse('{"failedMessage":"","convertedObjects":[]}')).toEqual({
    type: 'converted',
    objects: [],
  });
});

test.each(['x', '[]', 'null', '{}', '{"convertedObjects":{}}', '{"failedMessage":1}'])(
  'parseConversionResponse() refuses %s',
  (text) => {
    expect(() => parseConversionResponse(text)).toThrow(/expected|must be|JSON/);
  },
);

test('a message about broken JSON quotes nothing of it', () => {
  let thrown: unknown;
  try {
    parseConversionResponse('{"convertedObjects": [{"spec": hunter2}]}');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(Error);
  expect(errorText(thrown)).not.toContain('hunter2');
});
