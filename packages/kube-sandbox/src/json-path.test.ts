import { expect, test } from 'vitest';
import { jsonPathValues } from './json-path.ts';

const object = {
  spec: {
    size: 3,
    'odd.name': 'x',
    list: [
      { name: 'a', on: true },
      { name: 'b', on: false },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Synced', status: 'False' },
    ],
  },
};

test.each([
  ['.spec.size', [3]],
  ['$.spec.size', [3]],
  ['.spec.none', []],
  ['.spec.list[0].name', ['a']],
  ['.spec.list[-1].name', ['b']],
  ['.spec.list[9].name', []],
  ['.spec.list[*].name', ['a', 'b']],
  ['.spec.odd\\.name', ['x']],
  [".spec['odd.name']", ['x']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type!='Ready')].status", ['False']],
  ['.spec.list[?(@.on=="true")].name', ['a']],
  ['', [object]],
  ['.spec[', []],
  ['spec', []],
])('%s finds %j', (path, expected) => {
  expect(jsonPathValues(object, path)).toEqual(expected);
});
