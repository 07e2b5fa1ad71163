import { expect, test } from 'vitest';
import { applyDefaults } from './values-schema.ts';

test('a default stands where a property is missing, and nowhere else', () => {
  const schema = { properties: { a: { default: 1 }, b: { default: 2 }, c: { default: 3 }, d: {} } };
  const value = { b: 5, c: null };
  expect(applyDefaults(schema, value)).toStrictEqual({ a: 1, b: 5, c: null });
  expect(value).toStrictEqual({ b: 5, c: null });
});

test('defaults inside a missing map count only when the map has a default', () => {
  const inner = { properties: { x: { default: 1 } } };
  expect(applyDefaults({ properties: { a: inner, b: { ...inner, default: {} } } }, {})).toStrictEqual({
    b: { x: 1 },
  });
});

test('maps in maps and in lists get their defaults too', () => {
  const item = { properties: { x: { default: 1 } } };
  expect(
    applyDefaults({ properties: { a: item, l: { items: item } } }, { a: {}, l: [{}, { x: 2 }, 'text'] }),
  ).toStrictEqual({ a: { x: 1 }, l: [{ x: 1 }, { x: 2 }, 'text'] });
});

test('a property named __proto__ is plain data', () => {
  const schema = { properties: JSON.parse('{"__proto__": {"default": {"polluted": 1}}}') };
  const filled = applyDefaults(schema, {});
  expect(Object.keys(filled)).toEqual(['__proto__']);
  expect('polluted' in {}).toBe(false);
});
