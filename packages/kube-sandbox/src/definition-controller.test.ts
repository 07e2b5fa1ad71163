import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
let lab: ApiLab;

function definition(schema: object = OPEN, spec: object = {}): object {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema },
        },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema } },
      ],
      ...spec,
    },
  };
}

beforeEach(() => {
  lab = new ApiLab();
  lab.startControllers();
});

test('a CRD is established when it is created, and its kind served', () => {
  expect(lab.create(DEFINITIONS, definition()).body).toMatchObject({
    spec: { names: { listKind: 'WidgetList' }, conversion: { strategy: 'None' } },
    status: {
      conditions: [
        { type: 'NamesAccepted', status: 'True' },
        { type: 'Established', status: 'True' },
      ],
      acceptedNames: { kind: 'Widget' },
      storedVersions: ['v1'],
    },
  });
  expect(lab.create(WIDGETS, { metadata: { name: 'a' }, anything: 'goes' }).body).toMatchObject({
    kind: 'Widget',
    apiVersion: 'example.com/v1',
    metadata: { generation: 1 },
    anything: 'goes',
  });
});

test('an object is the same in every version, its apiVersion excepted', () => {
  lab.create(DEFINITIONS, definition());
  lab.create(WIDGETS, { metadata: { name: 'a' }, spec: { x: 1 } });
  const other = WIDGETS.replace('v1', 'v2');
  expect(lab.get(`${other}/a`).body).toMatchObject({ apiVersion: 'example.com/v2', spec: { x: 1 } });
  expect(lab.patch(`${other}/a`, 'merge', { spec: { x: 2 } }).body).toMatchObject({
    apiVersion: 'example.com/v2',
  });
  expect(lab.get(WIDGETS).body).toMatchObject({
    items: [{ apiVersion: 'example.com/v1', kind: 'Widget', spec: { x: 2 } }],
  });
});

test('defaults of the schema are filled in', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        default: {},
        properties: {
          size: { type: 'integer', default: 3 },
          parts: {
            type: 'array',
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
            },
          },
        },
        additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
      },
    },
  };
  lab.create(DEFINITIONS, definition(schema));
  expect(lab.create(WIDGETS, { metadata: { name: 'a' } }).body).toMatchObject({ spec: { size: 3 } });
  const spec = { size: 5, parts: [{ name: 'x' }], extra: {} };
  expect(lab.create(WIDGETS, { metadata: { name: 'b' }, spec }).body).toMatchObject({
    spec: { size: 5, parts: [{ name: 'x', count: 1 }], extra: { on: true } },
  });
});

test('fields that the schema does not have are dropped', () => {
  const parts = { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } };
  const spec = { type: 'object', properties: { parts } };
  lab.create(DEFINITIONS, definition({ type: 'object', properties: { spec } }));
  const created = lab.create(WIDGETS, {
    metadata: { name: 'a' },
    odd: 1,
    spec: { parts: [{ name: 'x', no: 1 }] },
  });
  expect(created.body).toMatchObject({ spec: { parts: [{ name: 'x' }] } });
  expect(created.body).not.toHaveProperty('odd');
  expect(created.text).not.toContain('"no"');
  expect(created.warnings).toEqual(['unknown field "odd"', 'unknown field "spec.parts[0].no"']);
});

test('the status has a subresource where the version says so', () => {
  lab.create(DEFINITIONS, definition());
  lab.create(WIDGETS, { metadata: { name: 'a' }, status: { x: 1 } });
  expect(lab.get(`${WIDGETS}/a`).body).not.toHaveProperty('status');
  lab.patch(`${WIDGETS}/a/status`, 'merge', { status: { x: 2 } });
  expect(lab.get(`${WIDGETS}/a`).body).toMatchObject({ status: { x: 2 }, metadata: { generation: 1 } });
  expect(lab.get(`${WIDGETS.replace('v1', 'v2')}/a/status`).status).toBe(404);
});

test('strategic patches are refused, merge patches are not', () => {
  lab.create(DEFINITIONS, definition());
  lab.create(WIDGETS, { metadata: { name: 'a' } });
  expect(lab.patch(`${WIDGETS}/a`, 'strategic', { spec: {} })).toMatchObject({
    status: 415,
    body: { reason: 'UnsupportedMediaType' },
  });
});

test('lists with keys are merged on apply, as the schema declares', () => {
  const parts = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', properties: { name: { type: 'string' } } },
  };
  const tags = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const whole = { type: 'object', 'x-kubernetes-map-type': 'atomic' };
  const properties = { parts, tags, whole, plain: { type: 'array' } };
  lab.create(
    DEFINITIONS,
    definition({ type: 'object', properties: { spec: { type: 'object', properties } } }),
  );
  const apply = (manager: string, spec: object): number => {
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec };
    return lab.patch(`${WIDGETS}/a?fieldManager=${manager}`, 'apply', body).status;
  };
  apply('one', { parts: [{ name: 'x' }], tags: ['a'], whole: { a: 1 }, plain: [1] });
  expect(apply('two', { parts: [{ name: 'y' }], tags: ['b'] })).toBe(200);
  expect(apply('two', { whole: { b: 1 } })).toBe(409);
  expect(apply('two', { plain: [2] })).toBe(409);
  apply('two', { parts: [{ name: 'y' }], tags: ['b'] });
  expect(lab.get(`${WIDGETS}/a`).body['spec']).toEqual({
    parts: [{ name: 'x' }, { name: 'y' }],
    tags: ['a', 'b'],
    whole: { a: 1 },
    plain: [1],
  });
});

test('a deleted CRD takes its objects along, then its kind is gone', async () => {
  lab.create(DEFINITIONS, definition());
  lab.create(WIDGETS, { metadata: { name: 'a' } });
  lab.create(WIDGETS, { metadata: { name: 'held', finalizers: ['x/y'] } });
  lab.call('DELETE', `${DEFINITIONS}/widgets.example.com`);
  await lab.settle();
  expect(lab.get(WIDGETS).body).toMatchObject({ items: [{ metadata: { name: 'held' } }] });
  lab.patch(`${WIDGETS}/held`, 'merge', { metadata: { finalizers: null } });
  await lab.settle();
  expect(lab.get(`${DEFINITIONS}/widgets.example.com`).status).toBe(404);
  expect(lab.get(WIDGETS).status).toBe(404);
});

test.each([
  ['another name', { names: { plural: 'gadgets', kind: 'Widget' } }],
  ['no scope', { scope: '' }],
  ['no kind', { names: { plural: 'widgets' } }],
  [
    'no storage version',
    { versions: [{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: {} } }] },
  ],
  ['no schema', { versions: [{ name: 'v1', served: true, storage: true }] }],
])('refuses a CRD with %s', (_title, spec) => {
  expect(lab.create(DEFINITIONS, definition({}, spec))).toMatchObject({
    status: 422,
    body: { reason: 'Invalid' },
  });
});
