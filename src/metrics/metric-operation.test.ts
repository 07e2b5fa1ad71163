import { expect, test } from 'vitest';
import { type MetricOperation, parseMetricOperations } from './metric-operation.ts';

test.each<[string, readonly MetricOperation[]]>([
  ['', []],
  ['{"name":"c","action":"add","value":1.9}', [{ action: 'add', name: 'c', value: 1, labels: {} }]],
  ['{"name":"c","add":2}', [{ action: 'add', name: 'c', value: 2, labels: {} }]],
  [
    '{"name":"g","set":0.5,"labels":{"a":"b"},"group":"x"}',
    [{ action: 'set', name: 'g', value: 0.5, labels: { a: 'b' }, group: 'x' }],
  ],
  [
    '{"name":"h","action":"observe","value":3,"buckets":[5,1,5]}',
    [{ action: 'observe', name: 'h', value: 3, labels: {}, buckets: [1, 5] }],
  ],
  [
    '{"action":"expire"}{"action":"expire","group":"g"}',
    [{ action: 'expire' }, { action: 'expire', group: 'g' }],
  ],
  ['{"name":"g","set":1,"group":null,"more":true}', [{ action: 'set', name: 'g', value: 1, labels: {} }]],
])('%s is read', (text, operations) => {
  expect(parseMetricOperations(text)).toEqual({ operations, warnings: [] });
});

test('an empty list of buckets means those of Prometheus', () => {
  const { operations } = parseMetricOperations('{"name":"h","action":"observe","value":1,"buckets":[]}');
  expect(operations).toMatchObject([{ buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] }]);
});

test.each([
  '{"name":"a","set":1,"add":2}',
  '{"name":"a","action":"mul","value":2}',
  '{"name":"a","value":2}',
])('%s is skipped with a warning', (text) => {
  const { operations, warnings } = parseMetricOperations(`${text}{"name":"b","set":1}`);
  expect(operations).toMatchObject([{ name: 'b' }]);
  expect(warnings).toEqual([expect.stringContaining('metric operation 1 ("a") is skipped')]);
});

test.each([
  ['[{"name":"a","set":1}]', 'must be a JSON object'],
  ['name=a', 'JSON'],
  ['{"name":"a","set":1', 'JSON'],
  ['{"name":"a","set":1} trailing', 'JSON'],
  ['{"name":"a","set":1}{"set":1}', "operation 2: 'name' is required"],
  ['{"name":"a","action":"set"}', "'value' is required"],
  ['{"name":"a","action":"observe","value":1}', "'buckets' is required"],
  ['{"name":"a","set":"1"}', "'set' must be a number"],
  ['{"name":"a","set":1e999}', "'set' must be a number"],
  ['{"name":1,"set":1}', "'name' must be a string"],
  ['{"name":"a","set":1,"labels":{"x":1}}', "'labels' must be an object of strings"],
  ['{"name":"a","set":1,"labels":{"__name__":"x"}}', 'is not a label name'],
  ['{"name":"a","action":"observe","value":1,"buckets":[],"labels":{"le":"x"}}', 'is not a label name'],
  ['{"name":"a b","set":1}', 'is not a metric name'],
  ['{"name":"a","add":-1}', 'must not be negative'],
])('%s fails', (text, reason) => {
  expect(() => parseMetricOperations(text)).toThrow('got bad metrics: ');
  expect(() => parseMetricOperations(text)).toThrow(reason);
});

test('too many buckets are refused', () => {
  const buckets = Array.from({ length: 201 }, (_, index) => index);
  const text = JSON.stringify({ name: 'h', action: 'observe', value: 1, buckets });
  expect(() => parseMetricOperations(text)).toThrow('more than 200');
});
