import { parseJson, stringifyJson } from '@addon-operator/json';
import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';

const PATH = '/apis/example.com/v1/things';
/** With the levels around it the most that an API server of version 1.34 stores. */
const LEVELS = 9_990;

let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
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
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
});

/** `{"a":{"a":…}}`, or with lists, around a number that no double holds. */
function nested(levels: number, inner = '12345678901234567890', [open, close] = ['{"a":', '}']): string {
  return `${open.repeat(levels)}${inner}${close.repeat(levels)}`;
}

function thing(spec: string, name = 'deep'): string {
  return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`;
}

test.each([
  ['maps', ['{"a":', '}']],
  ['lists', ['[', ']']],
  ['both', ['[{"a":', '}]']],
] as const)('%s of 10,000 levels are stored, returned, watched and changed', (_name, [open, close]) => {
  const each = open.length > 5 ? 2 : 1;
  const spec = `{"b":${nested(LEVELS / each - 1, undefined, [open, close])}}`;
  const watch = lab.watch(`${PATH}?watch=true`);
  expect(lab.call('POST', PATH, thing(spec)).status).toBe(201);
  expect(lab.get(`${PATH}/deep`).text).toContain(`"spec":${spec}`);
  expect(lab.get(PATH).text).toContain(`"spec":${spec}`);
  for (const type of ['merge', 'apply'] as const)
    expect([
      type,
      lab.patch(`${PATH}/deep?fieldManager=me&force=true`, type, thing(spec.replace('}', ',"c":1}'))).status,
    ]).toEqual([type, 200]);
  expect(lab.patch(`${PATH}/deep`, 'json', `[{"op":"add","path":"/spec/d","value":${spec}}]`).status).toBe(
    200,
  );
  const current = parseJson(lab.get(`${PATH}/deep`).text);
  expect(lab.call('PUT', `${PATH}/deep`, stringifyJson(current)).status).toBe(200);
  expect(lab.patch(`${PATH}/deep/status`, 'merge', `{"status":${spec}}`).status).toBe(200);
  expect(lab.call('DELETE', `${PATH}/deep`).status).toBe(200);
  watch.stop();
});

test('deeper objects are refused as a server refuses them', () => {
  const response = lab.call('POST', PATH, thing(nested(10_000)));
  expect(response).toMatchObject({
    status: 400,
    body: {
      message:
        "the object provided is unrecognized (must be of type Thing): couldn't get version/kind; json parse error: exceeded max depth",
    },
  });
  expect(lab.get(PATH).body).toMatchObject({ items: [] });
});

test('built-in kinds refuse deep values of their fields in every request', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  lab.create(path, { metadata: { name: 'a' } });
  const deep = nested(9_000);
  const body = (data: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${data}}`;
  for (const data of [deep, `{"b":${deep}}`]) {
    expect(lab.call('POST', path, body(data)).status).toBe(400);
    expect(lab.call('PUT', `${path}/a`, body(data)).status).toBe(400);
    for (const type of ['merge', 'strategic', 'apply'] as const) {
      const { status } = lab.patch(`${path}/a?fieldManager=me`, type, body(data));
      expect([type, status]).toEqual([type, type === 'apply' ? 500 : status]);
      expect(status).toBeGreaterThanOrEqual(400);
    }
  }
  const operations = `[{"op":"add","path":"/data","value":${deep}}]`;
  expect(lab.patch(`${path}/a`, 'json', operations).status).toBe(422);
});
