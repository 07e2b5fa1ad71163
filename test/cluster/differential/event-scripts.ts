import {
  APPLY,
  get,
  JSON_PATCH,
  MERGE,
  METADATA_LIST,
  patch,
  post,
  put,
  remove,
  type Script,
  STRATEGIC,
  TABLE,
} from './script.ts';

const CORE = '/api/v1/namespaces/{ns}/events';
const GROUPED = '/apis/events.k8s.io/v1/namespaces/{ns}/events';
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: '{ns}' };

const coreEvent = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'old.1', namespace: '{ns}' },
  involvedObject: { ...reference, fieldPath: 'data.a' },
  reason: 'Tested',
  message: 'hello',
  type: 'Normal',
  source: { component: 'test', host: 'here' },
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:10Z',
  count: 3,
};
const event = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'new.1', namespace: '{ns}' },
  eventTime: '2026-01-02T03:04:05.000000Z',
  reportingController: 'example.com/test',
  reportingInstance: 'test-1',
  action: 'Start',
  reason: 'Started',
  type: 'Warning',
  note: 'hello',
  regarding: reference,
  related: { ...reference, name: 'b' },
};
const selected = (path: string, selector: string): string =>
  `${path}?fieldSelector=${encodeURIComponent(selector)}`;

/** Events, which are the same objects in two groups. */
export const EVENT_SCRIPTS: readonly Script[] = [
  {
    name: 'Events in both of their groups',
    steps: [
      post(`${CORE}?fieldManager=old`, coreEvent),
      post(`${GROUPED}?fieldManager=new`, event),
      post(`${GROUPED}?fieldManager=new`, { ...event, metadata: { name: 'old.1' } }),
      post(`${CORE}?fieldManager=old`, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'bare.1' },
        involvedObject: { namespace: '{ns}' },
      }),
      ...['old.1', 'new.1', 'bare.1', 'none.1'].flatMap((name) => [
        get(`${CORE}/${name}`),
        get(`${GROUPED}/${name}`),
      ]),
      ...[CORE, GROUPED].flatMap((path) => [
        get(path),
        { ...get(path), accept: TABLE, compare: 'status' } as const,
        { ...get(path), accept: METADATA_LIST },
      ]),
      get(`${GROUPED}?watch=true&resourceVersion=0&timeoutSeconds=1&fieldSelector=regarding.name%3Da`),
      get('/apis/events.k8s.io/v1/events?limit=0&fieldSelector=metadata.namespace%3D{ns}'),
    ],
  },
  {
    name: 'field selectors of Events',
    steps: [
      post(`${CORE}?fieldManager=old`, coreEvent),
      post(`${GROUPED}?fieldManager=new`, event),
      get(selected(CORE, 'involvedObject.name=a,involvedObject.fieldPath=data.a')),
      get(selected(CORE, 'reportingComponent=example.com/test')),
      get(selected(CORE, 'source=example.com/test')),
      get(selected(CORE, 'source=test')),
      get(selected(CORE, 'regarding.name=a')),
      get(selected(GROUPED, 'regarding.name=a,regarding.kind=ConfigMap,reason=Started')),
      get(selected(GROUPED, 'reportingController=example.com/test,type!=Normal')),
      get(selected(GROUPED, 'source=test')),
      get(selected(GROUPED, 'involvedObject.name=a')),
      get(selected(GROUPED, 'metadata.name=old.1')),
    ],
  },
  {
    name: 'changes of Events through the other group',
    steps: [
      post(`${CORE}?fieldManager=old`, coreEvent),
      post(`${GROUPED}?fieldManager=new`, event),
      patch(`${CORE}/new.1?fieldManager=old`, MERGE, { message: 'changed', count: 5 }),
      get(`${GROUPED}/new.1`),
      patch(`${GROUPED}/old.1?fieldManager=new`, MERGE, { metadata: { labels: { a: 'b' } } }),
      get(`${CORE}/old.1`),
      patch(`${GROUPED}/old.1?fieldManager=new`, MERGE, { note: 'changed' }),
      patch(`${GROUPED}/old.1?fieldManager=new`, STRATEGIC, { regarding: { name: 'b' } }),
      patch(`${CORE}/old.1?fieldManager=old`, STRATEGIC, { involvedObject: { name: 'b' } }),
      patch(`${CORE}/old.1?fieldManager=old`, JSON_PATCH, [{ op: 'replace', path: '/count', value: 4 }]),
      put(`${CORE}/new.1?fieldManager=old`, {
        ...coreEvent,
        metadata: { name: 'new.1' },
        message: 'replaced',
      }),
      put(`${GROUPED}/made.1?fieldManager=new`, { ...event, metadata: { name: 'made.1' } }),
      get(`${CORE}/made.1`),
      put(`${GROUPED}/made.1?fieldManager=new`, { ...coreEvent, metadata: { name: 'made.1' } }),
      remove(`${GROUPED}/old.1`),
      get(`${CORE}/old.1`),
      remove(`${CORE}/made.1?propagationPolicy=Foreground`),
      remove(GROUPED),
      get(CORE),
    ],
  },
  {
    name: 'server-side apply of Events through both groups',
    steps: [
      patch(`${CORE}/applied.1?fieldManager=old`, APPLY, {
        ...coreEvent,
        metadata: { name: 'applied.1', labels: { a: 'b' } },
      }),
      get(`${GROUPED}/applied.1`),
      patch(`${GROUPED}/applied.1?fieldManager=new`, APPLY, {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'applied.1' },
        note: 'mine',
      }),
      patch(`${CORE}/applied.1?fieldManager=third`, APPLY, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'applied.1' },
        message: 'mine',
      }),
      patch(`${CORE}/applied.1?fieldManager=third&force=true`, APPLY, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'applied.1' },
        message: 'mine',
        count: 9,
      }),
      patch(`${GROUPED}/applied.1?fieldManager=third`, APPLY, {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'applied.1', labels: { c: 'd' } },
        note: 'mine',
        deprecatedCount: 9,
      }),
      get(`${CORE}/applied.1`),
      patch(`${CORE}/applied.1?fieldManager=third`, APPLY, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'applied.1' },
        message: 'mine',
      }),
      patch(`${GROUPED}/applied.1?fieldManager=fourth`, MERGE, { deprecatedCount: null }),
      patch(`${CORE}/applied.1?fieldManager=fourth`, MERGE, { message: 'mine' }),
      get(`${GROUPED}/applied.1`),
    ],
  },
];
