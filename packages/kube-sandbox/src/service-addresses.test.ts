import { beforeEach, expect, test } from 'vitest';
import { ApiLab } from '../test/api-lab.ts';
import { fieldsAt } from './json-access.ts';

const SERVICES = '/api/v1/namespaces/default/services';
let lab: ApiLab;

beforeEach(() => {
  lab = new ApiLab();
});

function create(name: string, spec: object = {}): unknown {
  return lab.create(SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }).body['spec'];
}

test('each service gets an address of its own, and keeps it', () => {
  expect(create('a')).toMatchObject({
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
  });
  expect(create('b')).toMatchObject({ clusterIP: '10.96.0.2' });
  const replaced = lab.call('PUT', `${SERVICES}/b`, {
    metadata: { name: 'b' },
    spec: { ports: [{ port: 81 }] },
  });
  expect(replaced.body).toMatchObject({ spec: { clusterIP: '10.96.0.2', ports: [{ port: 81 }] } });
  lab.call('DELETE', `${SERVICES}/a`);
  expect(create('c')).toMatchObject({ clusterIP: '10.96.0.1' });
});

test('headless and external services get none', () => {
  expect(create('headless', { clusterIP: 'None' })).toMatchObject({
    clusterIP: 'None',
    clusterIPs: ['None'],
  });
  expect(fieldsAt(create('named', { type: 'ExternalName', externalName: 'x' }))).not.toHaveProperty(
    'clusterIP',
  );
});

test('services for the outside get node ports, and keep those they have', () => {
  expect(create('a', { type: 'NodePort' })).toMatchObject({ ports: [{ nodePort: 30_000 }] });
  expect(
    create('b', {
      type: 'LoadBalancer',
      ports: [
        { name: 'x', port: 1 },
        { name: 'y', port: 2, nodePort: 31_000 },
      ],
    }),
  ).toMatchObject({
    ports: [{ nodePort: 30_001 }, { nodePort: 31_000 }],
  });
  const replaced = lab.call('PUT', `${SERVICES}/b`, {
    metadata: { name: 'b' },
    spec: { type: 'NodePort', ports: [{ port: 1 }] },
  });
  expect(replaced.body).toMatchObject({ spec: { ports: [{ nodePort: 30_001 }] } });
});
