import { parseJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { builtInType, type StructType } from './built-in-types.ts';
import { type Decoded, decodeTyped } from './typed-decoding.ts';

function typeOf(group: string, kind: string): StructType {
  const type = builtInType({ group, version: 'v1', kind });
  if (type === undefined) throw new Error(kind);
  return type;
}

function decode(group: string, kind: string, value: object): Decoded {
  return decodeTyped({ ...value }, typeOf(group, kind));
}

const deployment = (spec: unknown): Decoded => decode('apps', 'Deployment', { spec });
const containers = (...items: readonly unknown[]): Decoded =>
  deployment({ template: { spec: { containers: items } } });

test('what has the right type is kept, nulls and unknown fields are not', () => {
  const spec = {
    replicas: 2,
    paused: null,
    odd: 1,
    template: { spec: { containers: [{ name: 'a', imgae: 'b' }] } },
  };
  expect(deployment(spec)).toEqual({
    value: { spec: { replicas: 2, template: { spec: { containers: [{ name: 'a' }] } } } },
    unknown: ['spec.odd', 'spec.template.spec.containers[0].imgae'],
    problem: undefined,
    mistake: undefined,
  });
});

test('numbers with more digits than a double has are kept as they were written', () => {
  const value = parseJson('{"spec":{"activeDeadlineSeconds":9007199254740993}}') as object;
  expect(JSON.stringify(decode('batch', 'Job', value).value)).toContain('9007199254740993');
});

test.each([
  [deployment({ replicas: 'two' }), 'string into Go struct field DeploymentSpec.spec.replicas of type int32'],
  [
    deployment({ replicas: 1.5 }),
    'number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
  ],
  [deployment('x'), 'string into Go struct field Deployment.spec of type v1.DeploymentSpec'],
  [deployment({ paused: 1 }), 'number into Go struct field DeploymentSpec.spec.paused of type bool'],
  [
    containers({ imagePullPolicy: 5 }),
    'number into Go struct field Container.spec.template.spec.containers.imagePullPolicy of type v1.PullPolicy',
  ],
  [containers('x'), 'string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container'],
  [
    containers({ ports: [{ containerPort: '80' }] }),
    'string into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32',
  ],
])('a value of the wrong type is reported: %j', ({ problem }, expected) => {
  expect(problem).toBe(`json: cannot unmarshal ${expected}`);
});

test.each([
  [containers({ resources: { limits: { cpu: 'lots' } } }), 'quantities must match the regular expression'],
  [decode('', 'Secret', { data: { a: '%%%' } }), 'illegal base64 data at input byte 0'],
  [decode('', 'Secret', { data: { a: 'AQ' } }), 'illegal base64 data at input byte 0'],
  [decode('', 'Secret', { data: { a: 'AQID=' } }), 'illegal base64 data at input byte 4'],
  [
    decode('', 'ConfigMap', { metadata: { creationTimestamp: 'now' } }),
    'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  ],
  [
    decode('', 'Service', { spec: { ports: [{ targetPort: true }] } }),
    'json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
  ],
])('what the function of its type refuses is reported: %j', ({ problem }, expected) => {
  expect(problem).toContain(expected);
});
