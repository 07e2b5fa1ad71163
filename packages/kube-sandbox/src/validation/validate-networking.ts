import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { type Fields, fieldsAt, listAt, numberAt, scalarText, stringAt, valueAt } from '../json-access.ts';
import type { FieldErrors } from './field-errors.ts';
import { dns1035Label, dnsSubdomain, portName, portNumber, wildcardSubdomain } from './name-rules.ts';
import { validateSelector } from './validate-meta.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const FORBIDDEN_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];

/** Checks the spec of an Ingress. */
export function validateIngress(spec: Fields, errors: FieldErrors): void {
  const rules = listAt(spec, 'rules');
  if (rules.length === 0 && spec['defaultBackend'] === undefined)
    errors.invalid('spec', spec['rules'] ?? null, 'either `defaultBackend` or `rules` must be specified');
  if (spec['defaultBackend'] !== undefined)
    validateBackend(fieldsAt(spec, 'defaultBackend'), 'spec.defaultBackend', errors);
  for (const [index, rule] of rules.entries()) validateRule(rule, `spec.rules[${index}]`, errors);
  for (const [index, tls] of listAt(spec, 'tls').entries()) {
    for (const [number, host] of listAt(tls, 'hosts').map(String).entries())
      errors.invalidEach(`spec.tls[${index}].hosts[${number}]`, host, hostProblems(host));
    const name = stringAt(tls, 'secretName');
    if (name !== '') errors.invalidEach(`spec.tls[${index}].secretName`, name, dnsSubdomain(name));
  }
  const className = spec['ingressClassName'];
  if (typeof className === 'string')
    errors.invalidEach('spec.ingressClassName', className, dnsSubdomain(className));
}

function hostProblems(host: string): readonly string[] {
  return host.includes('*') ? wildcardSubdomain(host) : dnsSubdomain(host);
}

function validateRule(rule: unknown, path: string, errors: FieldErrors): void {
  const host = stringAt(rule, 'host');
  if (host !== '') {
    if (isIPv4(host) || isIPv6(host))
      errors.invalid(`${path}.host`, host, 'must be a DNS name, not an IP address');
    errors.invalidEach(`${path}.host`, host, hostProblems(host));
  }
  if (valueAt(rule, 'http') === undefined) return;
  const paths = listAt(rule, 'http', 'paths');
  if (paths.length === 0) errors.required(`${path}.http.paths`);
  for (const [index, item] of paths.entries()) validatePath(item, `${path}.http.paths[${index}]`, errors);
}

function validatePath(item: unknown, path: string, errors: FieldErrors): void {
  const pathType = valueAt(item, 'pathType');
  const value = stringAt(item, 'path');
  if (pathType === undefined) {
    errors.required(`${path}.pathType`, 'pathType must be specified');
    return;
  }
  const isAbsolute = value.startsWith('/');
  switch (scalarText(pathType)) {
    case 'Exact':
    case 'Prefix':
      if (!isAbsolute) errors.invalid(`${path}.path`, value, 'must be an absolute path');
      for (const text of FORBIDDEN_IN_PATHS.filter((each) => value.includes(each)))
        errors.invalid(`${path}.path`, value, `must not contain '${text}'`);
      for (const end of FORBIDDEN_ENDS.filter((each) => value.endsWith(each)))
        errors.invalid(`${path}.path`, value, `cannot end with '${end}'`);
      break;
    case 'ImplementationSpecific':
      if (value !== '' && !isAbsolute) errors.invalid(`${path}.path`, value, 'must be an absolute path');
      break;
    default:
      errors.notSupported(`${path}.pathType`, pathType, PATH_TYPES);
  }
  validateBackend(fieldsAt(item, 'backend'), `${path}.backend`, errors);
}

function validateBackend(backend: Fields, path: string, errors: FieldErrors): void {
  const hasResource = backend['resource'] !== undefined;
  if (backend['service'] === undefined) {
    if (!hasResource) errors.invalid(path, '', 'resource or service backend is required');
    return;
  }
  if (hasResource) {
    errors.invalid(path, '', 'cannot set both resource and service backends');
    return;
  }
  const name = stringAt(backend, 'service', 'name');
  if (name === '') errors.required(`${path}.service.name`);
  else errors.invalidEach(`${path}.service.name`, name, dns1035Label(name));
  const portText = stringAt(backend, 'service', 'port', 'name');
  const number = numberAt(backend, 'service', 'port', 'number') ?? 0;
  if (portText !== '' && number !== 0) errors.invalid(path, '', 'cannot set both port name & port number');
  else if (portText !== '') errors.invalidEach(`${path}.service.port.name`, portText, portName(portText));
  else if (number !== 0) errors.invalidEach(`${path}.service.port.number`, number, portNumber(number));
  else errors.required(path, 'port name or number is required');
}

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];

/** Checks the spec of a NetworkPolicy. */
export function validateNetworkPolicy(spec: Fields, errors: FieldErrors): void {
  validateSelector(spec['podSelector'], 'spec.podSelector', errors);
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [index, rule] of listAt(spec, direction).entries()) {
      const path = `spec.${direction}[${index}]`;
      for (const [number, port] of listAt(rule, 'ports').entries())
        validatePolicyPort(port, `${path}.ports[${number}]`, errors);
      for (const [number, peer] of listAt(rule, peers).entries())
        validatePeer(fieldsAt(peer), `${path}.${peers}[${number}]`, errors);
    }
  }
  const types = listAt(spec, 'policyTypes');
  if (types.length > POLICY_TYPES.length) {
    errors.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes');
    return;
  }
  for (const [index, type] of types.entries()) {
    if (!POLICY_TYPES.includes(String(type)))
      errors.notSupported(`spec.policyTypes[${index}]`, type, POLICY_TYPES);
  }
}

function validatePolicyPort(item: unknown, path: string, errors: FieldErrors): void {
  const protocol = valueAt(item, 'protocol');
  if (protocol !== undefined && !PROTOCOLS.includes(scalarText(protocol)))
    errors.notSupported(`${path}.protocol`, protocol, PROTOCOLS);
  const port = valueAt(item, 'port');
  const endPort = numberAt(item, 'endPort');
  if (port === undefined) {
    if (endPort !== undefined)
      errors.invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'number') {
    errors.invalidEach(`${path}.port`, port, portNumber(port));
    if (endPort === undefined) return;
    if (endPort < port) errors.invalid(`${path}.endPort`, port, 'must be greater than or equal to `port`');
    errors.invalidEach(`${path}.endPort`, endPort, portNumber(endPort));
  } else {
    if (endPort !== undefined)
      errors.invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric');
    errors.invalidEach(`${path}.port`, port, portName(scalarText(port)));
  }
}

function validatePeer(peer: Fields, path: string, errors: FieldErrors): void {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => peer[field] !== undefined);
  for (const field of given) {
    if (field === 'ipBlock') validateBlock(fieldsAt(peer, 'ipBlock'), `${path}.ipBlock`, errors);
    else validateSelector(peer[field], `${path}.${field}`, errors);
  }
  if (given.length === 0) errors.required(path, 'must specify a peer');
  else if (given.length > 1 && given.includes('ipBlock'))
    errors.forbidden(path, 'may not specify both ipBlock and another peer');
}

const CIDR_PROBLEM = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function validateBlock(block: Fields, path: string, errors: FieldErrors): void {
  const cidr = stringAt(block, 'cidr');
  if (cidr === '') {
    errors.required(`${path}.cidr`);
    return;
  }
  const range = parseCidr(cidr);
  if (range === undefined) {
    errors.invalid(`${path}.cidr`, cidr, CIDR_PROBLEM);
    return;
  }
  for (const [index, text] of listAt(block, 'except').map(String).entries()) {
    const except = parseCidr(text);
    if (except === undefined) errors.invalid(`${path}.except[${index}]`, text, CIDR_PROBLEM);
    else if (!contains(range, except))
      errors.invalid(`${path}.except[${index}]`, text, 'must be a strict subset of `cidr`');
  }
}

interface Cidr {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

function parseCidr(text: string): Cidr | undefined {
  const [, address = '', bitsText = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
  const bits = Number(bitsText);
  if (family === undefined || bitsText === '' || bits > (family === 'ipv4' ? 32 : 128)) return undefined;
  return { address, bits, family };
}

function contains(outer: Cidr, inner: Cidr): boolean {
  if (outer.family !== inner.family || inner.bits <= outer.bits) return false;
  const list = new BlockList();
  list.addSubnet(outer.address, outer.bits, outer.family);
  return list.check(inner.address, inner.family);
}
