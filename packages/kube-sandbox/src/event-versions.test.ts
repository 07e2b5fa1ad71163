import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { coreEvent, eventInVersion } from './event-versions.ts';
import { listAt, stringAt, valueAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';

const CORE = '/api/v1/namespaces/default/events';
const GROUPED = '/apis/events.k8s.io/v1/namespaces/default/events';
const TIME = '2026-01-02T03:04:05.000000Z';

const grouped: ResourceObject = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'new.1' },
  eventTime: TIME,
  series: { count: 2, lastObservedTime: TIME },
  reportingController: 'example.com/test',
  reportingInstance: 'test-1',
  action: 'Start',
  reason: 'Started',
  type: 'Normal',
  note: 'hello',
  regarding: { kind: 'ConfigMap', name: 'a', namespace: 'default' },
};
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

test('an Event has other names for some of its fields in each version', () => {
  expect(coreEvent(grouped)).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'new.1' },
    eventTime: TIME,
    series: { count: 2, lastObservedTime: TIME },
    reportingComponent: 'example.com/test',
    reportingInstance: 'test-1',
    action: 'Start',
    reason: 'Started',
    type: 'Normal',
    message: 'hello',
    involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'default' },
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
  });
});

test('an Event that goes through the other version comes back as it was', () => {
  const old: ResourceObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'old.1' },
    involvedObject: {},
    message: 'hello',
    source: { component: 'test', host: 'here' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:10Z',
    count: 3,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  };
  const inGroup = eventInVersion(old, 'events.k8s.io/v1');
  expect(inGroup).toMatchObject({ note: 'hello', deprecatedCount: 3, deprecatedSource: { host: 'here' } });
  expect(Object.keys(inGroup)).not.toContain('reportingController');
  expect(coreEvent(inGroup)).toEqual(old);
});

test('both groups list, watch, change and delete the same Events', () => {
  const watches = [CORE, GROUPED].map((path) => lab.watch(`${path}?watch=true`));
  lab.create(CORE, { metadata: { name: 'old.1' }, message: 'hello' });
  lab.create(GROUPED, grouped);
  lab.patch(`${CORE}/new.1`, 'merge', { message: 'changed' });
  expect(lab.get(`${GROUPED}/new.1`).body).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    note: 'changed',
  });
  expect(listAt(lab.get(GROUPED).body, 'items').map((item) => stringAt(item, 'note'))).toEqual([
    'changed',
    'hello',
  ]);
  expect(lab.call('DELETE', `${GROUPED}/old.1`).status).toBe(200);
  expect(lab.get(`${CORE}/old.1`).status).toBe(404);
  for (const { titles } of watches)
    expect(titles).toEqual(['ADDED old.1', 'ADDED new.1', 'MODIFIED new.1', 'DELETED old.1']);
  const [core, group] = watches;
  expect(valueAt(core?.events[2], 'object', 'message')).toBe('changed');
  expect(valueAt(group?.events[2], 'object', 'note')).toBe('changed');
});

test('a watch of one group passes the Events that its field selector names, whoever wrote them', () => {
  const watch = lab.watch(`${GROUPED}?watch=true&fieldSelector=regarding.name%3Da`);
  for (const name of ['a', 'b'])
    lab.create(CORE, { metadata: { name }, involvedObject: { name, namespace: 'default' } });
  expect(watch.titles).toEqual(['ADDED a']);
});

test('a write through one group forgets the field managers of the other', () => {
  lab.create(CORE, { metadata: { name: 'old.1' }, message: 'hello' });
  lab.patch(`${GROUPED}/old.1?fieldManager=new`, 'merge', { metadata: { labels: { a: 'b' } } });
  expect(valueAt(lab.get(`${CORE}/old.1`).body, 'metadata', 'managedFields')).toMatchObject([
    { manager: 'new', apiVersion: 'events.k8s.io/v1' },
  ]);
});

test('what a new Event lacks is refused by events.k8s.io alone', () => {
  const incomplete = { metadata: { name: 'x' }, type: 'Normal' };
  expect(lab.create(CORE, incomplete).status).toBe(201);
  expect(lab.create(GROUPED, { ...incomplete, metadata: { name: 'y' } })).toMatchObject({
    status: 422,
    body: { message: 'Event "y" is invalid: eventTime: Required value' },
  });
});
