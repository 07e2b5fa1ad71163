import { expect, test } from 'vitest';
import { maskValues } from './redact.ts';

const values = {
  global: { registry: { dockerAuth: 'user:hunter2-pw' } },
  web: {
    image: 'registry.example.com/web',
    adminPassword: 'correct horse',
    tlsKey: '-----BEGIN KEY-----\nMIIBsecretline\n-----END KEY-----',
    otherPassword: 'p&ss<1>',
    pin: 1234,
    token: { value: 987654 },
    unnamed: 'AKIAIOSFODNN7EXAMPLE0',
    secretName: 'web-tls',
  },
};

test.each([
  ['a password', 'invalid value "correct horse" for x', 'invalid value "***" for x'],
  ['its base64 form', `data: ${Buffer.from('correct horse').toString('base64')}`, 'data: ***'],
  ['a line of a key', 'line 3: MIIBsecretline', 'line 3: ***'],
  ['a number below a sensitive key', 'got 987654', 'got ***'],
  ['a text that looks like a key', 'bad AKIAIOSFODNN7EXAMPLE0', 'bad ***'],
  ['a nested credential', 'auth user:hunter2-pw', 'auth ***'],
  [
    'what toJson of a template makes of it',
    String.raw`fail {"a":"p\u0026ss\u003c1\u003e"}`,
    'fail {"a":"***"}',
  ],
  ['Basic authentication', `Basic ${Buffer.from('me:p&ss<1>').toString('base64')}`, 'Basic bWU6***'],
])('redact() hides %s', (_case, text, expected) => {
  expect(maskValues(text, values)).toBe(expected);
});

test('redact() keeps what an operator needs to see', () => {
  const text = 'cannot pull registry.example.com/web, secret web-tls not found, pin 1234';
  expect(maskValues(text, values)).toBe(text);
});
