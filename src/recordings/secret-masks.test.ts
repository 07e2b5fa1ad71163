import { expect, test } from 'vitest';
import { SecretMasks } from './secret-masks.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db' },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
});

function masked(value: unknown, ...known: readonly string[]): unknown {
  const masks = new SecretMasks();
  for (const text of known) masks.add(text);
  masks.learn(value);
  return masks.data(value);
}

test.each([
  ['a known text', ['password hunter22!'], ['password ***1!']],
  ['a text twice, and another', ['hunter22 swordfish hunter22'], ['***1 ***2 ***1']],
  ['base64 of a known text, which can still be decoded', [base64('hunter22')], [base64('***1')]],
  ['base64 of a line', [base64('hunter22\n')], [base64('***1')]],
  ['a text within JSON', [JSON.stringify({ a: 'hunter22' })], [JSON.stringify({ a: '***1' })]],
  ['a key', [{ hunter22: 1 }], [{ '***1': 1 }]],
  ['numbers and booleans', [1, true, null], [1, true, null]],
])('masks %s', (_what, value, expected) => {
  expect(masked(value, 'hunter22', 'swordfish')).toEqual(expected);
});

test('the data of Secrets are masked everywhere, short ones in the Secret alone', () => {
  const object = secret({ password: 'hunter22', pin: '12', empty: '' });
  const value = { objects: [{ object, filterResult: 'hunter22' }], url: 'db://u:hunter22@h/12' };
  expect(masked(value)).toEqual({
    objects: [
      {
        object: {
          ...object,
          data: { password: base64('***1'), pin: base64('***2'), empty: '' },
        },
        filterResult: '***1',
      },
    ],
    url: 'db://u:***1@h/12',
  });
});

test('stringData, binary data and the last applied configuration are masked', () => {
  const binary = Buffer.from([0xff, 0xfe, 0, 1]).toString('base64');
  const applied = {
    'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"pin":"MTI="}}',
    other: 'a',
  };
  const object = {
    kind: 'Secret',
    metadata: { name: 'db', annotations: applied },
    data: { binary },
    stringData: { password: 'hunter22' },
  };
  const text = JSON.stringify(masked(object));
  expect(text).not.toContain(binary);
  expect(text).not.toContain('hunter22');
  expect(text).not.toContain('MTI=');
  expect(text).toContain('"other":"a"');
});

test('a secret has the same mask as long as the masks are in use', () => {
  const masks = new SecretMasks();
  masks.add('swordfish');
  masks.add('hunter22');
  expect(masks.text('hunter22')).toBe('***2');
  masks.add('hunter22');
  expect(masks.text('hunter22, swordfish')).toBe('***2, ***1');
});

test('the longest of several secrets that begin alike is masked', () => {
  expect(masked('hunter22-long', 'hunter22', 'hunter22-long')).toBe('***2');
});

test('all strings of what a filter kept of a Secret are hidden', () => {
  const masks = new SecretMasks();
  expect(masks.hidden({ password: 'hunter22', list: ['a', 1], none: '' })).toEqual({
    password: '***1',
    list: ['***2', 1],
    none: '',
  });
});

test('many secrets in a large text are masked in one pass', () => {
  const masks = new SecretMasks();
  const secrets = Array.from({ length: 2_000 }, (_, index) => `secret-${index}-value`);
  for (const each of secrets) masks.add(each);
  const text = secrets.map((each) => `key: ${each}\n`).join('');
  expect(masks.text(text)).not.toContain('-value');
});
