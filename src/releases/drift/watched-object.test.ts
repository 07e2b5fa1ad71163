import { expect, test } from 'vitest';
import { WatchedObject } from './watched-object.ts';

const OWNED = [{ manager: 'helm', fieldsV1: { 'f:data': { '.': {}, 'f:x': {} } } }];
const EMPTIED = [{ manager: 'helm', fieldsV1: { 'f:data': {} } }];
const LOST = [{ manager: 'helm', fieldsV1: { 'f:type': {} } }];

function watched(): WatchedObject {
  const identity = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '' };
  return new WatchedObject({ ...identity, fields: { data: { x: '1' } } });
}

let version = 0;
const meta = (managedFields: readonly object[], rest: object = {}) => ({
  name: 'a',
  managedFields,
  resourceVersion: String((version += 1)),
  ...rest,
});

test('an object is not compared while helm owns all it applied', () => {
  const object = watched();
  expect(object.observe(meta(OWNED), 0)).toBe('untouched');
  expect(object.dueMs).toBeUndefined();
});

test('an object of which helm lost a field, or that is gone, is compared soon', () => {
  for (const metadata of [meta(LOST), undefined]) {
    const object = watched();
    expect(object.observe(metadata, 1_000)).toBe('changed');
    expect(object.dueMs).toBe(1_500);
  }
});

test('an object that is written again and again is compared half a second after the first write', () => {
  const object = watched();
  for (const nowMs of [0, 100, 200, 450]) object.observe(meta(LOST), nowMs);
  expect(object.dueMs).toBe(500);
});

test('a status that changes says nothing where the server counts generations', () => {
  const object = watched();
  object.observe(meta(LOST, { generation: 1 }), 0);
  expect(object.observe(meta(LOST, { generation: 1 }), 10_000)).toBe('none');
  expect(object.observe(meta(LOST, { generation: 2 }), 10_000)).toBe('changed');
});

test('a map that may have lost everything is compared once, and then only when helm owns something else', () => {
  const object = watched();
  expect(object.observe(meta(EMPTIED), 0)).toBe('changed');
  object.beginComparison(0)(0);
  expect(object.dueMs).toBeUndefined();
  expect(object.observe(meta(EMPTIED), 1)).toBe('untouched');
  expect(object.observe(meta(LOST), 2)).toBe('changed');
});

test('writes that leave helm the same fields are compared every ten seconds, any other one soon', () => {
  const object = watched();
  object.observe(meta(LOST), 0);
  object.beginComparison(1_000)(1_000);
  object.observe(meta(LOST), 2_000);
  expect(object.dueMs).toBe(11_000);
  object.observe(meta(EMPTIED), 3_000);
  expect(object.dueMs).toBe(3_500);
});

test('a write that leaves the generation as it was is seen', () => {
  const object = watched();
  const [held, by] = [
    { generation: 1, finalizers: ['a'] },
    { manager: 'they', time: '2026-01-01T00:00:00Z' },
  ];
  const others = { ...by, fieldsV1: { 'f:description': {} } };
  object.observe(meta(LOST, held), 0);
  expect(object.observe(meta(LOST, { generation: 1 }), 1)).toBe('changed');
  expect(object.observe(meta([...LOST, others], { generation: 1 }), 2)).toBe('changed');
  const later = { ...others, time: '2026-01-01T00:00:01Z' };
  expect(object.observe(meta([...LOST, later], { generation: 1 }), 3)).toBe('changed');
  const status = { ...by, subresource: 'status', fieldsV1: { 'f:status': {} } };
  expect(object.observe(meta([...LOST, later, status], { generation: 1 }), 4)).toBe('none');
});

test('a change that waits for its time to be undone is compared every ten seconds, and then', () => {
  const object = watched();
  const remedy = { type: 'delayed', dueMs: 60_000, untilMs: 1_060_000 } as const;
  object.noteDrift({ resource: object.title, fields: [], changedBy: [], sinceMs: 0, remedy });
  object.beginComparison(1_000);
  object.observe(meta(LOST), 2_000);
  expect(object.dueMs).toBe(11_000);
  object.beginComparison(11_000);
  object.observe(meta(LOST), 59_900);
  expect(object.dueMs).toBe(60_000);
});
