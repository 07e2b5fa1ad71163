import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { listAt, stringAt } from './json-access.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

function defineWidgets(versions: readonly string[] = ['v1']): void {
  lab.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        shortNames: ['wd'],
        categories: ['all'],
      },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object' } },
      })),
    },
  });
}

test('aggregated discovery lists groups, versions, resources and subresources', () => {
  const { body } = lab.get('/apis', AGGREGATED);
  expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
  const apps = listAt(body, 'items').find((item) => stringAt(item, 'metadata', 'name') === 'apps');
  const deployments = listAt(apps, 'versions', 0, 'resources').find(
    (item) => stringAt(item, 'resource') === 'deployments',
  );
  expect(deployments).toMatchObject({
    responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
    scope: 'Namespaced',
    singularResource: 'deployment',
    shortNames: ['deploy'],
    categories: ['all'],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [
      { subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
      { subresource: 'status', verbs: ['get', 'patch', 'update'] },
    ],
  });
});

test('plain discovery is there for clients that do not know better', () => {
  expect(lab.get('/api').body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  expect(lab.get('/apis').body).toMatchObject({ kind: 'APIGroupList' });
  expect(lab.get('/apis/apps').body).toMatchObject({
    kind: 'APIGroup',
    preferredVersion: { groupVersion: 'apps/v1' },
  });
  const resources = listAt(lab.get('/apis/apps/v1').body, 'resources');
  expect(resources).toContainEqual(
    expect.objectContaining({ name: 'deployments', kind: 'Deployment', namespaced: true }),
  );
  expect(resources).toContainEqual(
    expect.objectContaining({
      name: 'deployments/scale',
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    }),
  );
});

test('an unchanged document is not sent twice', () => {
  const first = lab.get('/apis', AGGREGATED);
  const etag = first.headers['ETag'] ?? '';
  const ask = (): number =>
    lab.call('GET', '/apis', undefined, { accept: AGGREGATED, ifNoneMatch: etag }).status;
  expect(ask()).toBe(304);
  defineWidgets();
  expect(ask()).toBe(200);
});

test('the kinds of a CRD are there at once, the newest stable version first', () => {
  defineWidgets(['v1beta1', 'v2', 'v1', 'v2alpha1']);
  const { body } = lab.get('/apis/example.com');
  expect(listAt(body, 'versions').map((version) => stringAt(version, 'version'))).toEqual([
    'v2',
    'v1',
    'v1beta1',
    'v2alpha1',
  ]);
  expect(lab.get('/apis/example.com/v2').body).toMatchObject({
    resources: [{ name: 'widgets', shortNames: ['wd'], categories: ['all'] }, { name: 'widgets/status' }],
  });
});

test('OpenAPI names every group version, and says that the server validates fields', () => {
  defineWidgets();
  const paths = Object(lab.get('/openapi/v3').body['paths']);
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/example.com/v1']),
  );
  expect(stringAt(paths, 'apis/apps/v1', 'serverRelativeURL')).toMatch(
    /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/,
  );
  const document = lab.get(stringAt(paths, 'apis/example.com/v1', 'serverRelativeURL')).body;
  expect(Object.values(Object(document['paths']))).toMatchObject([
    {
      patch: {
        parameters: [{ name: 'fieldValidation' }],
        'x-kubernetes-group-version-kind': { group: 'example.com', version: 'v1', kind: 'Widget' },
      },
    },
  ]);
});
