import { expect, test } from 'vitest';
import { driftedFields } from './drifted-fields.ts';

test.each<[string, unknown, unknown, unknown, readonly string[]]>([
  ['nothing', { a: { b: 1 } }, { a: { b: 1, c: 2 } }, { a: { b: 1, c: 2 } }, []],
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, { a: { b: 1 } }, ['/a/b']],
  ['a field that is gone', { a: { 'b/c': 1 } }, { a: {} }, { a: { 'b/c': 1 } }, ['/a/b~1c']],
  ['another spelling of the same', { cpu: '1000m' }, { cpu: '1' }, { cpu: '1' }, []],
  [
    'an item of a list',
    { l: [{ n: 'a', v: 1 }] },
    { l: [{ n: 'a', v: 2 }] },
    { l: [{ n: 'a', v: 1 }] },
    ['/l/0/v'],
  ],
  ['a lost item', { l: ['a'] }, { l: [] }, { l: ['a'] }, ['/l']],
  [
    'what the server does to other fields on a write',
    { a: 1 },
    { a: 1, touched: 1 },
    { a: 1, touched: 2 },
    [],
  ],
  [
    'bookkeeping and status',
    { metadata: { generation: 1 }, status: { x: 1 } },
    { metadata: { generation: 3 }, status: { x: 2 } },
    { metadata: { generation: 4 }, status: { x: 1 } },
    [],
  ],
])('driftedFields() finds %s', (_what, desired, live, applied, expected) => {
  expect(driftedFields(desired, live, applied)).toEqual(expected);
});
