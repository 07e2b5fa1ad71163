import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { logLeftOut } from './left-out.ts';
import { silentLog } from './sandbox-log.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RULES = { 'x-kubernetes-validations': [{ rule: 'self.min <= self.max' }] };
const CEL_WARNING =
  'sandbox: rules in x-kubernetes-validations are not evaluated, a cluster refuses what breaks them (v1.spec, v1.spec.ports[], v1.spec.sizes.* and 1 more)';
const WITH_RULES = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      ...RULES,
      properties: {
        ports: { type: 'array', items: { type: 'object', ...RULES } },
        sizes: { type: 'object', additionalProperties: { type: 'integer', ...RULES } },
        word: { type: 'string', ...RULES },
        plain: { type: 'string' },
      },
    },
  },
};
let lab: ApiLab;
let logged: string[];

beforeEach(() => {
  lab = new ApiLab();
  logged = [];
  logLeftOut(lab.state.store, {
    ...silentLog,
    warn: ({ kind, name }, message) => logged.push(`${String(kind)} ${String(name)}: ${message}`),
  });
});

function definition(openAPIV3Schema: object): object {
  return {
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Gadget', plural: 'gadgets' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

test('a CRD with validation rules is accepted with a warning, and a log record that names the fields', () => {
  const { status, warnings } = lab.create(DEFINITIONS, definition(WITH_RULES));
  expect([status, warnings]).toEqual([201, [CEL_WARNING]]);
  expect(logged).toEqual([`CustomResourceDefinition gadgets.example.com: ${CEL_WARNING}`]);
});

test('a CRD that gets rules later warns in each write, and is logged once', () => {
  expect(lab.create(DEFINITIONS, definition({ type: 'object' })).warnings).toEqual([]);
  const schema = {
    spec: {
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: WITH_RULES } }],
    },
  };
  const path = `${DEFINITIONS}/gadgets.example.com`;
  expect(lab.patch(path, 'merge', schema).warnings).toEqual([CEL_WARNING]);
  expect(lab.patch(path, 'merge', { metadata: { labels: { a: 'b' } } }).warnings).toEqual([CEL_WARNING]);
  expect(lab.get(path).warnings).toEqual([]);
  expect(logged).toHaveLength(1);
});

test.each([
  [
    '/apis/batch/v1/namespaces/default/cronjobs',
    {
      schedule: '@daily',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } },
      },
    },
    'sandbox: a CronJob creates no Jobs',
  ],
  ['/api/v1/namespaces/default/resourcequotas', { hard: { pods: '1' } }, 'sandbox: quotas are not enforced'],
])('an object of %s warns that it has no effect', (path, spec, warning) => {
  expect(lab.create(path, { metadata: { name: 'a' }, spec })).toMatchObject({
    status: 201,
    warnings: [warning],
  });
});
