import { parsePointer } from '@addon-operator/json/pointer';
import { expect, test } from 'vitest';
import { driftedFields, withIgnoredFields } from './object-comparison.ts';

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

const WEB = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: '' };

function ignoring(fields: object, live: object, pointer: string, of: { kind?: string; name?: string } = {}) {
  const rule = { kind: of.kind, name: of.name, path: parsePointer(pointer) ?? [] };
  return withIgnoredFields({ ...WEB, fields: { ...fields } }, { ...live }, [rule]);
}

const mount = (mountPath: string, subPath: string) => ({ name: 'files', mountPath, subPath });
const containers = (...list: readonly object[]) => ({ spec: { containers: list } });

test.each([
  [
    'a changed value',
    { spec: { replicas: 2, x: 1 } },
    { spec: { replicas: 7 } },
    '/spec/replicas',
    { spec: { replicas: 7, x: 1 } },
  ],
  ['one that is gone', { spec: { replicas: 2 } }, { spec: {} }, '/spec/replicas', { spec: {} }],
  ['one that helm did not apply', { spec: {} }, { spec: { replicas: 7 } }, '/spec/replicas', { spec: {} }],
  ['all keys of a map', { data: { a: '1', b: '2' } }, { data: { a: '3' } }, '/data/*', { data: { a: '3' } }],
  [
    'items of a list, found again by name',
    containers({ name: 'web', image: 'web:1' }),
    containers({ name: 'proxy', image: 'p' }, { name: 'web', image: 'web:2' }),
    '/spec/containers/*/image',
    containers({ name: 'web', image: 'web:2' }),
  ],
  [
    'items of the same name, each at its place',
    { mounts: [mount('a', 'x'), mount('b', 'y')] },
    { mounts: [mount('a', 'x'), mount('b', 'z')] },
    '/mounts/*/subPath',
    { mounts: [mount('a', 'x'), mount('b', 'z')] },
  ],
  [
    'no item that is missing, of which a field may differ',
    containers({ name: 'web', image: 'web:1' }, { name: 'proxy', image: 'p' }),
    containers({ name: 'web', image: 'web:2' }),
    '/spec/containers/*/image',
    containers({ name: 'web', image: 'web:2' }, { name: 'proxy', image: 'p' }),
  ],
  [
    'items that may be missing',
    containers({ name: 'web' }, { name: 'proxy' }),
    containers({ name: 'web' }),
    '/spec/containers/*',
    containers({ name: 'web' }),
  ],
  ['an item without a name', { args: ['a', 'b'] }, { args: ['a', 'c'] }, '/args/1', { args: ['a', 'c'] }],
])('withIgnoredFields() takes the live state of %s', (_what, fields, live, pointer, expected) => {
  expect(ignoring(fields, live, pointer)).toEqual(expected);
});

test('withIgnoredFields() follows rules for this object only', () => {
  const [fields, live] = [{ a: 1 }, { a: 2 }];
  expect(ignoring(fields, live, '/a', { kind: 'Deployment', name: 'web' })).toEqual({ a: 2 });
  expect(ignoring(fields, live, '/a', { kind: 'Service' })).toEqual({ a: 1 });
  expect(ignoring(fields, live, '/a', { name: 'db' })).toEqual({ a: 1 });
});

test('withIgnoredFields() finds what the chart wrote as stringData where the server keeps it', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    name: 'web',
    namespace: '',
    fields: { data: { a: 'MQ==' } },
  };
  const rule = { kind: undefined, name: undefined, path: ['stringData', 'a'] };
  expect(withIgnoredFields(secret, { data: { a: 'Mg==' } }, [rule])).toEqual({ data: { a: 'Mg==' } });
});
