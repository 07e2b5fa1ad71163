import { isObject } from '@addon-operator/json';
import { isEvent } from './event-versions.ts';
import { fieldsAt, listAt, numberAt, scalarString, stringAt, stringsAt, valueAt } from './json-access.ts';
import { jsonPathValues } from './json-path.ts';
import type { PrinterColumn, ServedKind } from './kinds.ts';
import type { ResourceObject } from './resource-object.ts';

/** One column of a table; `cell` gives what is printed of an object, an Event as `v1` has it. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, more only in wide output. */
  readonly priority: number;
  readonly cell: (object: ResourceObject, nowMs: number) => unknown;
}

type Cell = TableColumn['cell'];

function text(name: string, cell: Cell, priority = 0): TableColumn {
  return { name, type: 'string', format: '', description: '', priority, cell };
}

function integer(name: string, ...path: readonly string[]): TableColumn {
  return { ...text(name, (object) => numberAt(object, ...path) ?? 0), type: 'integer' };
}

const NAME: TableColumn = { ...text('Name', (object) => object.metadata.name), format: 'name' };
const AGE = text('Age', (object, nowMs) => ageOf(object.metadata.creationTimestamp, nowMs));
const CREATED_AT: TableColumn = {
  ...text('Created At', (object) => object.metadata.creationTimestamp ?? null),
  type: 'date',
};

const DATA: TableColumn = { ...text('Data', dataCount), type: 'integer' };
const CONTAINERS = text('Containers', (object) => containerStrings(object, 'name'), 1);
const IMAGES = text('Images', (object) => containerStrings(object, 'image'), 1);
const SELECTOR = text(
  'Selector',
  (object) => selectorString(stringsAt(object, 'spec', 'selector', 'matchLabels')),
  1,
);
const ROLE = text(
  'Role',
  (object) => `${stringAt(object, 'roleRef', 'kind')}/${stringAt(object, 'roleRef', 'name')}`,
);

function ready(wanted: readonly string[], current: readonly string[]): TableColumn {
  return text(
    'Ready',
    (object) => `${numberAt(object, ...current) ?? 0}/${numberAt(object, ...wanted) ?? 0}`,
  );
}

function string(name: string, ...path: readonly string[]): TableColumn {
  return text(name, (object) => stringAt(object, ...path) || '<none>');
}

function firstSeen(event: ResourceObject, nowMs: number): string {
  return ageOf(stringAt(event, 'firstTimestamp') || stringAt(event, 'eventTime'), nowMs);
}

function lastSeen(event: ResourceObject, nowMs: number): string {
  if (isObject(event['series'])) return ageOf(stringAt(event, 'series', 'lastObservedTime'), nowMs);
  const time = stringAt(event, 'lastTimestamp');
  return time === '' ? firstSeen(event, nowMs) : ageOf(time, nowMs);
}

function eventCount(event: ResourceObject): number {
  if (isObject(event['series'])) return numberAt(event, 'series', 'count') ?? 0;
  // An Event of one occurrence has no count.
  return numberAt(event, 'count') ?? 1;
}

function eventSource(event: ResourceObject): string {
  const component = stringAt(event, 'source', 'component') || stringAt(event, 'reportingComponent');
  const instance = stringAt(event, 'source', 'host') || stringAt(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

const COLUMNS: Readonly<Record<string, readonly TableColumn[]>> = {
  ConfigMap: [DATA, AGE],
  CronJob: [
    string('Schedule', 'spec', 'schedule'),
    string('Timezone', 'spec', 'timeZone'),
    text('Suspend', (object) => (valueAt(object, 'spec', 'suspend') === true ? 'True' : 'False')),
    { ...integer('Active'), cell: (object) => listAt(object, 'status', 'active').length },
    text('Last Schedule', (object, nowMs) => {
      const time = stringAt(object, 'status', 'lastScheduleTime');
      return time === '' ? '<none>' : ageOf(time, nowMs);
    }),
    AGE,
  ],
  CustomResourceDefinition: [CREATED_AT],
  ClusterRole: [CREATED_AT],
  ClusterRoleBinding: [ROLE, AGE],
  DaemonSet: [
    integer('Desired', 'status', 'desiredNumberScheduled'),
    integer('Current', 'status', 'currentNumberScheduled'),
    integer('Ready', 'status', 'numberReady'),
    integer('Up-to-date', 'status', 'updatedNumberScheduled'),
    integer('Available', 'status', 'numberAvailable'),
    text('Node Selector', (object) =>
      selectorString(stringsAt(object, 'spec', 'template', 'spec', 'nodeSelector')),
    ),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  Deployment: [
    ready(['spec', 'replicas'], ['status', 'readyReplicas']),
    integer('Up-to-date', 'status', 'updatedReplicas'),
    integer('Available', 'status', 'availableReplicas'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  Event: [
    text('Last Seen', lastSeen),
    text('Type', (event) => stringAt(event, 'type')),
    text('Reason', (event) => stringAt(event, 'reason')),
    text('Object', (event) => {
      const kind = stringAt(event, 'involvedObject', 'kind').toLowerCase();
      const name = stringAt(event, 'involvedObject', 'name');
      return name === '' ? kind : `${kind}/${name}`;
    }),
    text('Subobject', (event) => stringAt(event, 'involvedObject', 'fieldPath'), 1),
    text('Source', eventSource, 1),
    text('Message', (event) => stringAt(event, 'message').trim()),
    text('First Seen', firstSeen, 1),
    text('Count', eventCount, 1),
    { ...NAME, priority: 1 },
  ],
  HorizontalPodAutoscaler: [
    text('Reference', (object) => {
      const kind = stringAt(object, 'spec', 'scaleTargetRef', 'kind');
      return `${kind}/${stringAt(object, 'spec', 'scaleTargetRef', 'name')}`;
    }),
    integer('MinPods', 'spec', 'minReplicas'),
    integer('MaxPods', 'spec', 'maxReplicas'),
    integer('Replicas', 'status', 'currentReplicas'),
    AGE,
  ],
  Ingress: [
    string('Class', 'spec', 'ingressClassName'),
    text('Hosts', (object) => {
      const hosts = listAt(object, 'spec', 'rules').map((rule) => stringAt(rule, 'host') || '*');
      return hosts.length === 0 ? '*' : hosts.join(',');
    }),
    text('Address', (object) => stringAt(object, 'status', 'loadBalancer', 'ingress', 0, 'ip')),
    text('Ports', (object) => (listAt(object, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
    AGE,
  ],
  Job: [
    text('Status', jobStatus),
    text('Completions', (object) => {
      const wanted = numberAt(object, 'spec', 'completions') ?? 1;
      return `${numberAt(object, 'status', 'succeeded') ?? 0}/${wanted}`;
    }),
    text('Duration', (object) => {
      const startMs = Date.parse(stringAt(object, 'status', 'startTime'));
      const endMs = Date.parse(stringAt(object, 'status', 'completionTime'));
      return Number.isNaN(startMs) || Number.isNaN(endMs) ? '' : duration(endMs - startMs);
    }),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  Lease: [string('Holder', 'spec', 'holderIdentity'), AGE],
  Namespace: [text('Status', (object) => stringAt(object, 'status', 'phase')), AGE],
  NetworkPolicy: [
    text('Pod-Selector', (object) => selectorString(stringsAt(object, 'spec', 'podSelector', 'matchLabels'))),
    AGE,
  ],
  PersistentVolumeClaim: [
    string('Status', 'status', 'phase'),
    text('Volume', (object) => stringAt(object, 'spec', 'volumeName')),
    text('Capacity', (object) => stringAt(object, 'status', 'capacity', 'storage')),
    text('Access Modes', (object) => listAt(object, 'status', 'accessModes').map(accessMode).join(',')),
    text('StorageClass', (object) => stringAt(object, 'spec', 'storageClassName')),
    AGE,
  ],
  Pod: [
    text('Ready', (object) => {
      const statuses = listAt(object, 'status', 'containerStatuses');
      const readyCount = statuses.filter((status) => valueAt(status, 'ready') === true).length;
      return `${readyCount}/${listAt(object, 'spec', 'containers').length}`;
    }),
    text('Status', (object) => {
      if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
      const phase = stringAt(object, 'status', 'phase');
      return phase === 'Succeeded' ? 'Completed' : phase;
    }),
    text('Restarts', () => '0'),
    AGE,
  ],
  PodDisruptionBudget: [
    text('Min Available', (object) => scalarString(valueAt(object, 'spec', 'minAvailable')) || 'N/A'),
    text('Max Unavailable', (object) => scalarString(valueAt(object, 'spec', 'maxUnavailable')) || 'N/A'),
    integer('Allowed Disruptions', 'status', 'disruptionsAllowed'),
    AGE,
  ],
  ReplicaSet: [
    integer('Desired', 'spec', 'replicas'),
    integer('Current', 'status', 'replicas'),
    integer('Ready', 'status', 'readyReplicas'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  Role: [CREATED_AT],
  RoleBinding: [ROLE, AGE],
  Secret: [string('Type', 'type'), DATA, AGE],
  Service: [
    string('Type', 'spec', 'type'),
    string('Cluster-IP', 'spec', 'clusterIP'),
    text('External-IP', (object) => {
      const address = stringAt(object, 'status', 'loadBalancer', 'ingress', 0, 'ip');
      return address || stringAt(object, 'spec', 'externalName') || '<none>';
    }),
    text('Port(s)', (object) => listAt(object, 'spec', 'ports').map(portString).join(',') || '<none>'),
    AGE,
    text('Selector', (object) => selectorString(stringsAt(object, 'spec', 'selector')), 1),
  ],
  StatefulSet: [ready(['spec', 'replicas'], ['status', 'readyReplicas']), AGE, CONTAINERS, IMAGES],
  ServiceAccount: [{ ...integer('Secrets'), cell: (object) => listAt(object, 'secrets').length }, AGE],
};

/** Columns in which objects of a kind are printed. */
export function columnsOf(kind: ServedKind): readonly TableColumn[] {
  if (kind.isCustom) return [NAME, ...(kind.columns ?? []).map(customColumn)];
  const columns = COLUMNS[kind.kind] ?? [AGE];
  return isEvent(kind) ? columns : [NAME, ...columns];
}

function customColumn(column: PrinterColumn): TableColumn {
  const isDate = column.type === 'date';
  return {
    name: column.name,
    type: isColumnType(column.type) ? column.type : 'string',
    format: column.format,
    description: column.description,
    priority: column.priority,
    cell: (object, nowMs) => {
      const [value] = jsonPathValues(object, column.jsonPath);
      if (value === undefined || value === null) return isDate ? '<unknown>' : null;
      if (isDate) return ageOf(scalarString(value), nowMs);
      return typeof value === 'object' ? JSON.stringify(value) : value;
    },
  };
}

function isColumnType(type: string): type is TableColumn['type'] {
  return ['string', 'integer', 'number', 'boolean', 'date'].includes(type);
}

function dataCount(object: ResourceObject): number {
  return Object.keys(fieldsAt(object, 'data')).length + Object.keys(fieldsAt(object, 'binaryData')).length;
}

function jobStatus(object: ResourceObject): string {
  const conditions = listAt(object, 'status', 'conditions').filter(
    (item) => stringAt(item, 'status') === 'True',
  );
  const types = conditions.map((item) => stringAt(item, 'type'));
  return types.find((type) => type === 'Complete' || type === 'Failed' || type === 'Suspended') ?? 'Running';
}

function containerStrings(object: ResourceObject, field: string): string {
  return listAt(object, 'spec', 'template', 'spec', 'containers')
    .map((container) => stringAt(container, field))
    .join(',');
}

function selectorString(labels: Readonly<Record<string, string>>): string {
  const terms = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return terms.length === 0 ? '<none>' : terms.toSorted().join(',');
}

function portString(port: unknown): string {
  const nodePort = numberAt(port, 'nodePort');
  const number = `${numberAt(port, 'port') ?? ''}${nodePort === undefined ? '' : `:${nodePort}`}`;
  return `${number}/${stringAt(port, 'protocol')}`;
}

function accessMode(mode: unknown): string {
  const short: Readonly<Record<string, string>> = {
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  };
  return short[String(mode)] ?? String(mode);
}

function ageOf(time: string | undefined, nowMs: number): string {
  const startMs = Date.parse(time ?? '');
  return Number.isNaN(startMs) ? '<unknown>' : duration(Math.max(0, nowMs - startMs));
}

/** A duration as kubectl prints it: the two largest units at most. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  if (days < 730) return `${days}d`;
  return `${Math.floor(days / 365)}y`;
}
