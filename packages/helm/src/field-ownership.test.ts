import { expect, test } from 'vitest';
import { helmsFields, helmsShare, writersOf } from './field-ownership.ts';

const entry = (manager: string, fieldsV1: object, rest: object = {}) => ({ manager, fieldsV1, ...rest });
const managed = (...managedFields: readonly object[]) => ({ managedFields });
const KEYED = { 'k:{"name":"web"}': { '.': {}, 'f:image': {}, 'f:name': {} } };

test.each([
  ['all', { spec: { replicas: 1 } }, { 'f:spec': { 'f:replicas': {} } }],
  ['some', { spec: { replicas: 1 } }, { 'f:spec': { 'f:paused': {} } }],
  ['all', { list: [{ name: 'web', image: 'a' }] }, { 'f:list': KEYED }],
  ['some', { list: [{ name: 'db' }] }, { 'f:list': KEYED }],
  ['all', { finalizers: ['a'] }, { 'f:finalizers': { 'v:"a"': {} } }],
  ['unclear', { data: { a: '1' } }, { 'f:data': {} }],
  ['all', { data: {} }, {}],
  ['some', { metadata: { labels: { a: 'b' } } }, { 'f:metadata': { 'f:labels': { '.': {} } } }],
  ['some', { metadata: { finalizers: ['a'] } }, { 'f:metadata': { 'f:finalizers': { '.': {} } } }],
  ['all', { metadata: { finalizers: ['a'] } }, { 'f:metadata': { 'f:finalizers': { 'v:"a"': {} } } }],
  ['all', { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, status: { b: 1 } }, {}],
])('helmsShare() is %s', (share, desired, fields) => {
  expect(helmsShare(desired, managed(entry('helm', fields)))).toBe(share);
});

test('helmsShare() adds up what helm 3 and helm 4 own, and nothing else', () => {
  const desired = { a: 1, b: 1 };
  const [a, b] = [{ 'f:a': {} }, { 'f:b': {} }];
  expect(helmsShare(desired, managed(entry('helm', a), entry('helm', b)))).toBe('all');
  expect(helmsShare(desired, managed(entry('helm', a), entry('kubectl', b)))).toBe('some');
  expect(helmsShare(desired, {})).toBe('some');
});

test('helmsFields() is the same when other clients write', () => {
  const own = entry('helm', { 'f:a': {} });
  expect(helmsFields(managed(own))).toBe(helmsFields(managed(entry('kubectl', { 'f:b': {} }), own)));
  expect(helmsFields(managed(own))).not.toBe(helmsFields(managed(entry('helm', {}))));
});

const DEPLOYMENT = {
  spec: { replicas: 0, containers: [{ name: 'proxy' }, { name: 'web', image: 'b' }] },
  metadata: managed(
    entry('helm', { 'f:spec': {} }),
    entry('early', { 'f:spec': { 'f:replicas': {} } }, { time: '2026-01-01T00:00:00Z' }),
    entry('late', { 'f:spec': { 'f:containers': KEYED } }, { time: '2026-01-02T00:00:00Z' }),
    entry('kubelet', { 'f:spec': { 'f:replicas': {} } }, { subresource: 'status' }),
  ),
};

test.each([
  [['/spec/replicas'], ['early']],
  [['/spec/containers/1/image'], ['late']],
  [
    ['/spec/containers/1/image', '/spec/replicas'],
    ['late', 'early'],
  ],
  [['/metadata/labels/gone'], ['late']],
])('writersOf() %j are %j', (pointers, writers) => {
  expect(writersOf(DEPLOYMENT, pointers)).toEqual(writers);
});

test('writersOf() is empty without a known writer', () => {
  expect(writersOf({ metadata: managed(entry('helm', {})) }, ['/a'])).toEqual([]);
});
