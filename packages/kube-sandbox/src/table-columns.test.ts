import { expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { listAt, stringAt, valueAt } from './json-access.ts';
import { duration } from './table-columns.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [120_000, '2m'],
  [125_000, '2m5s'],
  [600_000, '10m'],
  [10_800_000, '3h'],
  [11_460_000, '3h11m'],
  [28_800_000, '8h'],
  [172_800_000, '2d'],
  [180_000_000, '2d2h'],
  [700_000_000, '8d'],
  [70_000_000_000, '2y'],
])('%i ms is shown as %s', (ms, expected) => {
  expect(duration(ms)).toBe(expected);
});

async function printed(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const lab = new ApiLab();
  lab.startControllers();
  lab.create(path, body);
  await lab.settle();
  await lab.clock.advance(90_000);
  const table = lab.get(`${path}/${stringAt(body, 'metadata', 'name')}`, TABLE).body;
  expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  const names = listAt(table, 'columnDefinitions').map((column) => stringAt(column, 'name'));
  return Object.fromEntries(names.map((name, index) => [name, valueAt(table, 'rows', 0, 'cells', index)]));
}

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const selector = { matchLabels: { a: 'b' } };
const task = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const meta = { metadata: { name: 'x' } };

test.each([
  ['/api/v1/namespaces/default/configmaps', { ...meta, data: { a: '' } }, { Name: 'x', Data: 1, Age: '90s' }],
  ['/api/v1/namespaces/default/secrets', { ...meta, stringData: { a: 'b' } }, { Type: 'Opaque', Data: 1 }],
  [
    '/apis/apps/v1/namespaces/default/deployments',
    { ...meta, spec: { replicas: 2, selector, template } },
    { Ready: '2/2', 'Up-to-date': 2, Available: 2, Images: 'i:1', Selector: 'a=b' },
  ],
  [
    '/apis/apps/v1/namespaces/default/statefulsets',
    { ...meta, spec: { selector, template } },
    { Ready: '1/1' },
  ],
  [
    '/apis/apps/v1/namespaces/default/daemonsets',
    { ...meta, spec: { selector, template } },
    { Desired: 1, Ready: 1 },
  ],
  [
    '/apis/batch/v1/namespaces/default/jobs',
    { ...meta, spec: { template: task } },
    { Status: 'Complete', Completions: '1/1', Duration: '0s' },
  ],
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    { ...meta, spec: { schedule: '* * * * *', jobTemplate: { spec: { template: task } } } },
    { Schedule: '* * * * *', Suspend: 'False', Active: 0, 'Last Schedule': '<none>' },
  ],
  ['/api/v1/namespaces/default/pods', { ...meta, spec: template.spec }, { Ready: '1/1', Status: 'Running' }],
  [
    '/api/v1/namespaces/default/services',
    { ...meta, spec: { type: 'NodePort', ports: [{ port: 80 }] } },
    { Type: 'NodePort', 'Cluster-IP': '10.96.0.1', 'External-IP': '<none>', 'Port(s)': '80:30000/TCP' },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    { ...meta, spec: { rules: [{ host: 'h' }], tls: [{}] } },
    { Hosts: 'h', Ports: '80, 443', Class: '<none>' },
  ],
  [
    '/api/v1/namespaces/default/events',
    { ...meta, type: 'Normal', reason: 'R', message: 'm', involvedObject: { kind: 'Pod', name: 'p' } },
    { 'Last Seen': '<unknown>', Object: 'pod/p', Message: 'm' },
  ],
  ['/api/v1/namespaces', meta, { Status: 'Active' }],
  ['/api/v1/namespaces/default/serviceaccounts', meta, { Secrets: 0 }],
  [
    '/api/v1/namespaces/default/persistentvolumeclaims',
    { ...meta, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    { Status: 'Bound', Capacity: '1Gi', 'Access Modes': 'RWO' },
  ],
  [
    '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
    { ...meta, spec: { minAvailable: 1 } },
    { 'Min Available': '1', 'Max Unavailable': 'N/A' },
  ],
  [
    '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    {
      ...meta,
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    },
    { Reference: 'Deployment/d', MinPods: 1, MaxPods: 3 },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
    { ...meta, roleRef: { kind: 'Role', name: 'r' } },
    { Role: 'Role/r' },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    { ...meta, rules: [] },
    { 'Created At': '2026-01-01T00:00:00Z' },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    { ...meta, spec: {} },
    { 'Pod-Selector': '<none>' },
  ],
  [
    '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    { ...meta, spec: { holderIdentity: 'me' } },
    { Holder: 'me' },
  ],
  ['/api/v1/namespaces/default/limitranges', { ...meta, spec: {} }, { Name: 'x', Age: '90s' }],
])('an object of %s is printed', async (path, body, expected) => {
  expect(await printed(path, body)).toMatchObject(expected);
});

test('a custom resource is printed as its definition says', async () => {
  const lab = new ApiLab();
  lab.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Since', type: 'date', jsonPath: '.spec.since' },
            { name: 'Map', type: 'string', jsonPath: '.spec.map', priority: 1 },
          ],
        },
      ],
    },
  });
  const spec = { size: 3, since: '2025-12-31T23:59:00Z', map: { a: 1 } };
  lab.create('/apis/example.com/v1/things', {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec,
  });
  lab.create('/apis/example.com/v1/things', {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'b' },
  });
  expect(lab.get('/apis/example.com/v1/things', TABLE).body).toMatchObject({
    columnDefinitions: [
      { name: 'Name', format: 'name' },
      { name: 'Size', type: 'integer' },
      { type: 'date' },
      { priority: 1 },
    ],
    rows: [{ cells: ['a', 3, '60s', '{"a":1}'] }, { cells: ['b', null, '<unknown>', null] }],
  });
});

test('rows carry metadata, the object, or nothing', () => {
  const lab = new ApiLab();
  const rows = (query: string): unknown => lab.get(`/api/v1/namespaces?${query}`, TABLE).body['rows'];
  expect(rows('')).toMatchObject([
    { object: { kind: 'PartialObjectMetadata', metadata: { name: 'default' } } },
  ]);
  expect(rows('includeObject=Object')).toMatchObject([{ object: { kind: 'Namespace', status: {} } }]);
  expect(rows('includeObject=None')).toEqual([{ cells: ['default', 'Active', '0s'] }]);
});
