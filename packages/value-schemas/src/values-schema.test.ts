import { expect, test } from 'vitest';
import { cpuTimeMs } from '../../../test/support/cpu-time.ts';
import { applyDefaults, SCHEMA_FORMATS } from './values-schema.ts';

test('a default applies where a property is missing, and nowhere else', () => {
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

function isValid(format: string, text: string): boolean | undefined {
  const check = SCHEMA_FORMATS[format];
  return check instanceof RegExp ? check.test(text) : check?.(text);
}

test.each([
  ['byte', 'aGk=', 'a b'],
  ['cidr', '10.0.0.0/8', '10.0.0.0/33'],
  ['cidr', 'fd00::/64', 'fd00::'],
  ['date', '2024-02-29', '2023-02-29'],
  ['date-time', '2024-01-02T03:04:05Z', '2024-01-02'],
  ['duration', '1h30m', 'soon'],
  ['email', 'a@b.example', 'a'],
  ['email', 'Ada <a@b.example>', 'Ada <a>'],
  ['hexcolor', '#a0b1c2', '#xyz'],
  ['hostname', 'web.example.com', '-web'],
  ['ipv4', '10.0.0.1', '10.0.0.256'],
  ['ipv6', 'fd00::1', '10.0.0.1'],
  ['mac', '01:02:03:04:05:06', '01:02:03'],
  ['mac', '0102.0304.0506', '0102.0304'],
  ['uri', 'https://example.com/x', 'example'],
  ['uri', '/x?y', ''],
  ['uuid4', '9c0f1f6c-3b9e-4d55-8ad4-7f4b5a6a2a52', '9c0f1f6c-3b9e-1d55-8ad4-7f4b5a6a2a52'],
])('format %s takes %s and refuses %s', (format, good, bad) => {
  expect(isValid(format, good)).toBe(true);
  expect(isValid(format, bad)).toBe(false);
});

test.each(['duration', 'email', 'hostname', 'byte', 'date-time'])(
  'format %s refuses a long text of good parts at once',
  (format) => {
    const startedMs = cpuTimeMs();
    for (const part of ['1ms', 'a', 'a.', 'aGk=', '2024-01-02T03:04:05Z'])
      expect(isValid(format, `${part.repeat(5_000)} !`)).toBe(false);
    expect(cpuTimeMs() - startedMs).toBeLessThan(1_000);
  },
);
