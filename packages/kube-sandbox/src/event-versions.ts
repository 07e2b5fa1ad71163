import { type Fields, withoutFields } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';

/** Events of `v1` and of `events.k8s.io/v1` are the same objects: some of their fields have another name in each. */
const CORE = 'v1';

const RENAMED: readonly (readonly [inCore: string, inEvents: string])[] = [
  ['count', 'deprecatedCount'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['involvedObject', 'regarding'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
];
const TO_EVENTS: ReadonlyMap<string, string> = new Map(RENAMED);
const TO_CORE: ReadonlyMap<string, string> = new Map(RENAMED.map(([inCore, inEvents]) => [inEvents, inCore]));

/** Fields that an Event of `v1` has even when they are empty. */
export const EMPTY_CORE_EVENT: Fields = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};

/** Fields that an Event of `events.k8s.io/v1` has even when they are empty. */
export const EMPTY_EVENT: Fields = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** Fields that an Event of `events.k8s.io/v1` has only when they are not empty. */
const OPTIONAL: readonly string[] = ['reportingController', 'reportingInstance'];

/** Whether objects of the kind are Events, in either version. */
export function isEvent({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return kind === 'Event' && (group === '' || group === 'events.k8s.io');
}

/** An Event as `v1` has it. */
export function coreEvent(event: ResourceObject): ResourceObject {
  return eventInVersion(event, CORE);
}

/** An Event as `apiVersion` has it, `v1` or `events.k8s.io/v1`. */
export function eventInVersion(event: ResourceObject, apiVersion: string): ResourceObject {
  if (event.apiVersion === apiVersion) return event;
  const names = apiVersion === CORE ? TO_CORE : TO_EVENTS;
  const { kind, apiVersion: _apiVersion, metadata, ...fields } = event;
  const renamed = Object.entries(fields).map(([field, value]) => [names.get(field) ?? field, value]);
  return completeEvent({ kind, apiVersion, metadata, ...Object.fromEntries(renamed) });
}

/** An Event with the fields that its version has even when they are empty. */
export function completeEvent(event: ResourceObject): ResourceObject {
  const { kind, apiVersion, metadata, ...fields } = event;
  const identity = { kind, apiVersion, metadata };
  if (apiVersion === CORE) return { ...identity, ...EMPTY_CORE_EVENT, ...fields };
  const absent = OPTIONAL.filter((field) => event[field] === '');
  return { ...identity, ...EMPTY_EVENT, ...withoutFields(fields, ...absent) };
}
