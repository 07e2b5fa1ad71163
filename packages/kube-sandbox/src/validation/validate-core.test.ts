import { expect, test } from 'vitest';
import { FieldErrors } from './field-errors.ts';
import { validateConfigMap, validateSecret } from './validate-core.ts';

test.each(['constructor', 'hasOwnProperty', 'toString', '__proto__'])(
  'data may have the key %s, which every object of JavaScript has',
  (key) => {
    const errors = new FieldErrors();
    const object = { apiVersion: 'v1', metadata: { name: 'a' }, data: Object.fromEntries([[key, '']]) };
    validateConfigMap({ ...object, kind: 'ConfigMap' }, errors);
    validateSecret({ ...object, kind: 'Secret' }, errors);
    expect(errors.causes).toEqual([]);
  },
);

test('a key in data and binaryData is refused', () => {
  const errors = new FieldErrors();
  validateConfigMap(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '' }, binaryData: { a: '' } },
    errors,
  );
  expect(errors.causes.map(({ field }) => field)).toEqual(['data[a]']);
});
