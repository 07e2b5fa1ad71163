import type { JsonObject } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { suggestEdit } from './edit-suggestion.ts';

function module(name: string, values: JsonObject, configValues: JsonObject = {}) {
  return { name, section: name, values, configValues };
}

test('suggestEdit() prefers replicas, and keeps what the ConfigMap says already', () => {
  const modules = [
    module('db', { size: 3 }),
    module('web', { message: 'hi', replicas: 2 }, { message: 'hi' }),
  ];
  expect(suggestEdit(modules)).toEqual({
    module: 'web',
    section: 'web',
    key: 'replicas',
    value: 3,
    sectionValues: { message: 'hi', replicas: 3 },
  });
});

test.each<[string, JsonObject, unknown]>([
  ['a number', { title: 'a', size: 3 }, { size: 4 }],
  ['a text where there is no whole number', { ratio: 0.5, title: 'a' }, { title: 'edited by hand' }],
  ['nothing where there are no plain values', { list: [1], on: true }, undefined],
])('suggestEdit() takes %s', (_case, values, expected) => {
  expect(suggestEdit([module('m', values)])?.sectionValues).toEqual(expected);
});
