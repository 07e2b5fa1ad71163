import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from './json.ts';
import { mergeValues } from './merge.ts';

test.each<{ name: string; layers: JsonObject[]; merged: JsonObject }>([
  { name: 'no layers give an empty map', layers: [], merged: {} },
  {
    name: 'maps are merged',
    layers: [{ a: { b: 1, c: 1 } }, { a: { c: 2 } }],
    merged: { a: { b: 1, c: 2 } },
  },
  { name: 'lists are replaced as a whole', layers: [{ l: [1, 2] }, { l: [3] }], merged: { l: [3] } },
  { name: 'a scalar replaces a map', layers: [{ a: { b: 1 } }, { a: 'x' }], merged: { a: 'x' } },
  { name: 'a map replaces a scalar', layers: [{ a: 'x' }, { a: { b: 1 } }], merged: { a: { b: 1 } } },
  { name: 'null overrides', layers: [{ a: { b: 1 } }, { a: null }], merged: { a: null } },
  {
    name: 'null inside a copied map stays',
    layers: [{}, { m: { b: null, c: 1 } }],
    merged: { m: { b: null, c: 1 } },
  },
  { name: 'null inside a list stays', layers: [{}, { l: [null] }], merged: { l: [null] } },
  { name: 'later layers win', layers: [{ a: 1 }, { a: 2 }, { a: 3 }], merged: { a: 3 } },
  {
    name: 'the worked example of the contract',
    layers: [{ size: 's', ports: [80, 443] }, { ports: [8080] }],
    merged: { size: 's', ports: [8080] },
  },
])('mergeValues(): $name', ({ layers, merged }) => {
  expect(mergeValues(...layers)).toEqual(merged);
});

test('mergeValues() keeps __proto__ as plain data and pollutes nothing', () => {
  const evil = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}');
  const merged = mergeValues({ a: 1 }, evil, JSON.parse('{"__proto__": {"more": 2}}'));
  expect(JSON.stringify(merged)).toBe(
    '{"a":1,"__proto__":{"polluted":1,"more":2},"constructor":{"prototype":{"polluted":1}}}',
  );
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const jsonMap = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), json) as fc.Arbitrary<JsonObject>;

/** Every path to a leaf with its value: lists and empty maps are leaves. */
function leaves(value: Json, path: readonly string[] = []): Map<string, Json> {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isMap ? Object.entries(value) : [];
  if (entries.length === 0) return new Map([[JSON.stringify(path), value]]);
  return new Map(entries.flatMap(([key, item]) => [...leaves(item, [...path, key])]));
}

test('mergeValues() keeps every leaf of the later layer, and invents none', () => {
  fc.assert(
    fc.property(jsonMap, jsonMap, (base, over) => {
      const merged = leaves(mergeValues(base, over));
      const inputs = new Map([...leaves(base), ...leaves(over)]);
      for (const [path, value] of merged) expect(inputs.get(path)).toEqual(value);
      const kept = [...leaves(over)].filter(([, value]) => JSON.stringify(value) !== '{}');
      for (const [path, value] of kept) expect(merged.get(path)).toEqual(value);
    }),
  );
});

test('mergeValues() changes none of its inputs, and merging a layer again changes nothing', () => {
  fc.assert(
    fc.property(jsonMap, jsonMap, (base, over) => {
      const texts = [JSON.stringify(base), JSON.stringify(over)];
      const merged = mergeValues(base, over);
      expect([JSON.stringify(base), JSON.stringify(over)]).toStrictEqual(texts);
      expect(mergeValues(merged, over)).toEqual(merged);
    }),
  );
});
