import { expect, test } from 'vitest';
import { Field } from './field.ts';
import { validateConfigMap, validateSecret } from './validate-core.ts';

test.each(['constructor', 'hasOwnProperty', 'toString', '__proto__'])(
  'data may have the key %s, which every object of JavaScript has',
  (key) => {
    const object = new Field({ metadata: { name: 'a' }, data: Object.fromEntries([[key, '']]) });
    validateConfigMap(object);
    validateSecret(object);
    expect(object.causes).toEqual([]);
  },
);

test('a key in data and binaryData is refused', () => {
  const object = new Field({ metadata: { name: 'a' }, data: { a: '' }, binaryData: { a: '' } });
  validateConfigMap(object);
  expect(object.causes.map(({ field }) => field)).toEqual(['data[a]']);
});
