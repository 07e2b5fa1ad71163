import { type Change, LONG } from './judged-bases.ts';

const TIME = '2026-01-02T03:04:05Z';
const MICRO_TIME = '2026-01-02T03:04:05.000000Z';
/** Longer than what fields of an Event may be. */
const TOO_LONG = LONG.repeat(2);

/** Events of both versions that are right, or wrong in one place. A value that is undefined removes the field. */
export const EVENT_CHANGES = {
  coreEvent: [
    [],
    [['metadata.name', 'Any_Name']],
    [['metadata.name', 'with/slash']],
    [['metadata.labels', { 'bad key': 'x' }]],
    [['involvedObject', undefined]],
    [['involvedObject.namespace', 'other']],
    [['involvedObject.namespace', undefined]],
    [['eventTime', MICRO_TIME]],
    [['eventTime', TIME]],
    [
      ['eventTime', MICRO_TIME],
      ['involvedObject.namespace', undefined],
      ['reportingComponent', 'not valid!'],
    ],
    [['firstTimestamp', MICRO_TIME]],
    [['count', 'many']],
    [['type', 'Strange']],
    [['series', { count: 1 }]],
    [['source', { component: 'test', host: 'here', port: 1 }]],
    [['regarding', {}]],
  ],
  event: [
    [],
    [['metadata.name', 'Bad_Name']],
    [['metadata.labels', { 'bad key': 'x' }]],
    [['metadata.finalizers', ['hold']]],
    [['eventTime', undefined]],
    [['eventTime', TIME]],
    [['regarding', undefined]],
    [['regarding.namespace', 'other']],
    [['regarding.namespace', undefined]],
    [['reportingController', undefined]],
    [['reportingController', 'not valid!']],
    [['reportingInstance', undefined]],
    [['reportingInstance', TOO_LONG]],
    [['action', undefined]],
    [['action', TOO_LONG]],
    [['reason', undefined]],
    [['reason', TOO_LONG]],
    [['note', LONG.repeat(15)]],
    [['type', undefined]],
    [['type', 'Strange']],
    [['series', { count: 1 }]],
    [['series', { count: 2, lastObservedTime: MICRO_TIME }]],
    [['deprecatedCount', 1]],
    [['deprecatedSource', { component: 'test' }]],
    [['deprecatedFirstTimestamp', TIME]],
    [['deprecatedLastTimestamp', TIME]],
    [['message', 'x']],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly Change[])[]>>;
