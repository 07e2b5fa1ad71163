import { expect, test } from 'vitest';
import { decodeProtobufBody } from './protobuf-body.ts';
import { StatusError } from './status-error.ts';

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function field(number: number, content: string | readonly number[]): number[] {
  const bytes = typeof content === 'string' ? [...Buffer.from(content)] : [...content];
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
}

function flag(number: number, value: number): number[] {
  return [...varint(number << 3), ...varint(value)];
}

function body(apiVersion: string, kind: string, raw: readonly number[]): Uint8Array {
  const type = field(1, [...field(1, apiVersion), ...field(2, kind)]);
  return Uint8Array.from([
    ...Buffer.from('k8s\0'),
    ...type,
    ...field(2, raw),
    ...field(3, ''),
    ...field(4, ''),
  ]);
}

function entry(key: string, value: string): number[] {
  return [...field(1, key), ...field(2, value)];
}

test('decodes a Secret: metadata, data as base64, type, flags', () => {
  const owner = [
    ...field(1, 'ConfigMap'),
    ...field(3, 'o'),
    ...field(4, 'u'),
    ...field(5, 'v1'),
    ...flag(6, 1),
  ];
  const metadata = [
    ...field(1, 'record'),
    ...field(2, ''),
    ...field(3, 'apps'),
    ...field(11, entry('owner', 'helm')),
    ...field(11, entry('status', 'deployed')),
    ...field(13, owner),
    ...field(14, 'a/b'),
    ...field(14, 'c/d'),
  ];
  const raw = [
    ...field(1, metadata),
    ...field(2, entry('release', '\u0001\u0002')),
    ...field(3, 'x/y'),
    ...flag(5, 1),
  ];

  expect(decodeProtobufBody(body('v1', 'Secret', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'record',
      namespace: 'apps',
      labels: { owner: 'helm', status: 'deployed' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true }],
      finalizers: ['a/b', 'c/d'],
    },
    data: { release: 'AQI=' },
    type: 'x/y',
    immutable: true,
  });
});

test('keeps empty values of maps', () => {
  const raw = [
    ...field(1, field(1, 'a')),
    ...field(2, field(1, 'empty')),
    ...field(2, entry('long', 'x'.repeat(300))),
  ];
  expect(decodeProtobufBody(body('v1', 'ConfigMap', raw))).toMatchObject({
    data: { empty: '', long: 'x'.repeat(300) },
  });
});

test('decodes DeleteOptions', () => {
  const raw = [
    ...flag(1, 30),
    ...field(2, field(1, 'uid')),
    ...flag(3, 0),
    ...field(4, 'Background'),
    ...field(5, 'All'),
  ];
  expect(decodeProtobufBody(body('v1', 'DeleteOptions', raw))).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 30,
    preconditions: { uid: 'uid' },
    orphanDependents: false,
    propagationPolicy: 'Background',
    dryRun: ['All'],
  });
});

test('decodes embedded types, numbers, quantities, ports and times', () => {
  const handler = field(2, [...field(1, '/'), ...field(2, [...flag(1, 1), ...field(3, 'http')])]);
  const container = [
    ...field(1, 'main'),
    ...field(8, field(1, [...field(1, 'cpu'), ...field(2, field(1, '100m'))])),
    ...field(10, [...field(1, handler), ...flag(2, 5)]),
  ];
  const volume = [...field(1, 'v'), ...field(2, field(2, []))];
  const spec = [...field(1, volume), ...field(2, container), ...flag(4, 0)];
  const metadata = [...field(1, 'a'), ...flag(7, 0), ...field(8, flag(1, 1_767_225_600))];

  expect(decodeProtobufBody(body('v1', 'Pod', [...field(1, metadata), ...field(2, spec)]))).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          resources: { limits: { cpu: '100m' } },
          livenessProbe: { httpGet: { path: '/', port: 'http' }, initialDelaySeconds: 5 },
        },
      ],
      // A pointer in Go: zero is a value.
      terminationGracePeriodSeconds: 0,
    },
  });
});

test('leaves out what Go writes of empty fields', () => {
  const metadata = [...field(1, 'a'), ...field(2, ''), ...flag(7, 0), ...field(8, [])];
  const decoded = decodeProtobufBody(body('v1', 'ConfigMap', field(1, metadata)));
  expect(Object.keys(Object(decoded['metadata']))).toEqual(['name']);
});

test('refuses kinds that are not built in, with 415', () => {
  expect(() => decodeProtobufBody(body('example.com/v1', 'Widget', []))).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 415 }) }),
  );
});

test.each([
  ['without prefix', Uint8Array.from([1, 2, 3])],
  ['cut off', body('v1', 'ConfigMap', [10, 200])],
  ['with a number in the place of bytes', body('v1', 'ConfigMap', flag(1, 5))],
  ['with an unknown wire type', body('v1', 'ConfigMap', [7])],
])('refuses a body %s, with 400', (_title, bytes) => {
  expect(() => decodeProtobufBody(bytes)).toThrow(StatusError);
});

test('skips fields that it does not know, of every wire type', () => {
  const raw = [
    ...flag(90, 300),
    ...varint((91 << 3) | 5),
    1,
    2,
    3,
    4,
    ...varint((92 << 3) | 1),
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
  ];
  expect(decodeProtobufBody(body('v1', 'Namespace', raw))).toEqual({ apiVersion: 'v1', kind: 'Namespace' });
});
