import { expect, test } from 'vitest';
import { plainScalar } from './yaml-scalars.ts';

test.each<[string, null | boolean | number | string]>([
  ['', null],
  ['~', null],
  ['null', null],
  ['NULL', null],
  ['nULL', 'nULL'],
  ['true', true],
  ['False', false],
  ['tRUE', 'tRUE'],
  ['0', 0],
  ['-0', 0],
  ['-0.0', 0],
  ['+12', 12],
  ['-12', -12],
  ['0777', 511],
  ['-010', -8],
  ['0o17', 15],
  ['0x1F', 31],
  ['-0x1f', -31],
  ['0b101', 5],
  ['089', 89],
  ['00', 0],
  ['1_000', 1000],
  ['1_000.5', 1000.5],
  ['_1', '_1'],
  ['1.', 1],
  ['.5', 0.5],
  ['-.5', -0.5],
  ['1e3', 1000],
  ['1.5E-3', 0.0015],
  ['9007199254740991', 9_007_199_254_740_991],
  ['12:30:45', '12:30:45'],
  ['2024-01-02', '2024-01-02'],
  ['1.2.3', '1.2.3'],
  ['0x', '0x'],
  ['0b2', '0b2'],
  ['1e', '1e'],
  ['+', '+'],
  ['.', '.'],
  ['-', '-'],
  ['1k', '1k'],
])('plainScalar() reads %j as %j', (text, value) => {
  expect(plainScalar(text, 'yaml-1.1')).toStrictEqual({ type: 'value', value });
  expect(plainScalar(text, 'yaml-1.2')).toStrictEqual({ type: 'value', value });
});

test.each(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'])(
  'plainScalar() reads %s as true in YAML 1.1 only',
  (text) => {
    expect(plainScalar(text, 'yaml-1.1')).toStrictEqual({ type: 'value', value: true });
    expect(plainScalar(text, 'yaml-1.2')).toStrictEqual({ type: 'value', value: text });
  },
);

test.each(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'])(
  'plainScalar() reads %s as false in YAML 1.1 only',
  (text) => {
    expect(plainScalar(text, 'yaml-1.1')).toStrictEqual({ type: 'value', value: false });
    expect(plainScalar(text, 'yaml-1.2')).toStrictEqual({ type: 'value', value: text });
  },
);

test.each(['.inf', '-.INF', '+.Inf', '.nan', '.NaN', '1e400', '-1e400', '1'.repeat(400)])(
  'plainScalar() refuses %s',
  (text) => {
    expect(plainScalar(text, 'yaml-1.1').type).toBe('refused');
  },
);

test.each([
  ['9007199254740993', '9007199254740993'],
  ['-18446744073709551615', '-18446744073709551615'],
  ['0xffffffffffffffff', '18446744073709551615'],
  ['01000000000000000000000', '9223372036854775808'],
  ['9_007_199_254_740_993', '9007199254740993'],
  ['42', '42'],
  ['1e300', '1e+300'],
  ['1e16', '10000000000000000'],
])('plainScalar() keeps each digit of %s', (text, json) => {
  const meaning = plainScalar(text, 'yaml-1.1');
  expect(JSON.stringify(meaning)).toBe(`{"type":"value","value":${json}}`);
});
