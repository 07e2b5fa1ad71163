import { isObject } from '@addon-operator/json';
import { type Fields, fieldsAt, listAt, numberAt, stringAt } from './json-access.ts';
import type { ResourceObject } from './resource-object.ts';
import type { ObjectStore } from './sandbox-store.ts';

const NETWORK = '10.96';
const FIRST_NODE_PORT = 30_000;

/** A Service with cluster address and node ports: those it has already, else free ones. Headless ones get none. */
export function assignAddresses(
  store: ObjectStore,
  service: ResourceObject,
  current: ResourceObject | undefined,
): ResourceObject {
  const spec = fieldsAt(service, 'spec');
  if (spec['type'] === 'ExternalName') return service;
  const withAddress = { ...spec, ...clusterAddress(store, spec, fieldsAt(current, 'spec')) };
  const needsNodePorts = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
  const completed = needsNodePorts
    ? withNodePorts(store, withAddress, fieldsAt(current, 'spec'))
    : withAddress;
  return { ...service, spec: completed };
}

function clusterAddress(store: ObjectStore, spec: Fields, currentSpec: Fields): Fields {
  const wanted = stringAt(spec, 'clusterIP') || stringAt(spec, 'clusterIPs', 0);
  const clusterIP = wanted || stringAt(currentSpec, 'clusterIP') || freeAddress(store);
  const ipFamilyPolicy = spec['ipFamilyPolicy'] ?? currentSpec['ipFamilyPolicy'] ?? 'SingleStack';
  const ipFamilies = spec['ipFamilies'] ?? currentSpec['ipFamilies'] ?? ['IPv4'];
  return { clusterIP, clusterIPs: [clusterIP], ipFamilyPolicy, ipFamilies };
}

function freeAddress(store: ObjectStore): string {
  const used = new Set<string>();
  for (const service of store.list('/services')) used.add(stringAt(service, 'spec', 'clusterIP'));
  for (let number = 1; ; number += 1) {
    const address = `${NETWORK}.${number >> 8}.${number & 255}`;
    if (!used.has(address)) return address;
  }
}

function withNodePorts(store: ObjectStore, spec: Fields, currentSpec: Fields): Fields {
  const used = new Set<number>();
  for (const service of store.list('/services')) {
    for (const port of listAt(service, 'spec', 'ports')) used.add(numberAt(port, 'nodePort') ?? 0);
  }
  const currentPorts = listAt(currentSpec, 'ports');
  const ports = listAt(spec, 'ports').map((port) => {
    if (!isObject(port) || port['nodePort'] !== undefined) return port;
    const known = currentPorts.find((other) => numberAt(other, 'port') === port['port']);
    return { ...port, nodePort: numberAt(known, 'nodePort') ?? freePort(used) };
  });
  return { ...spec, ports };
}

function freePort(used: Set<number>): number {
  let port = FIRST_NODE_PORT;
  while (used.has(port)) port += 1;
  used.add(port);
  return port;
}
