import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { scalarString } from '../json-access.ts';
import type { Field } from './field.ts';
import { dns1035Label, dnsSubdomain, type NameRule, portName, wildcardSubdomain } from './name-rules.ts';
import { validatePort } from './validate-container.ts';
import { validateSelector } from './validate-meta.ts';

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const FORBIDDEN_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];

/** Checks the spec of an Ingress. */
export function validateIngress(spec: Field): void {
  const rules = spec.at('rules');
  const defaultBackend = spec.at('defaultBackend');
  if (rules.list.length === 0 && !defaultBackend.isSet)
    spec.invalid('either `defaultBackend` or `rules` must be specified', rules.value ?? null);
  if (defaultBackend.isSet) validateBackend(defaultBackend);
  for (const rule of rules.items) validateRule(rule);
  for (const tls of spec.at('tls').items) {
    for (const host of tls.at('hosts').items) host.check(hostName(host.string), host.string);
    tls.at('secretName').checkIfSet(dnsSubdomain);
  }
  const className = spec.at('ingressClassName');
  if (className.isSet) className.check(dnsSubdomain(className.string));
}

const hostName: NameRule = (host) => (host.includes('*') ? wildcardSubdomain(host) : dnsSubdomain(host));

function validateRule(rule: Field): void {
  const host = rule.at('host');
  if (isIPv4(host.string) || isIPv6(host.string)) host.invalid('must be a DNS name, not an IP address');
  host.checkIfSet(hostName);
  if (!rule.at('http').isSet) return;
  const paths = rule.at('http', 'paths');
  if (paths.list.length === 0) paths.required();
  for (const item of paths.items) validatePath(item);
}

function validatePath(item: Field): void {
  const pathType = item.at('pathType');
  const path = item.at('path');
  if (!pathType.isSet) {
    pathType.required('pathType must be specified');
    return;
  }
  const isAbsolute = path.string.startsWith('/');
  const report = (why: string): void => path.invalid(why, path.string);
  switch (scalarString(pathType.value)) {
    case 'Exact':
    case 'Prefix':
      if (!isAbsolute) report('must be an absolute path');
      for (const text of FORBIDDEN_IN_PATHS)
        if (path.string.includes(text)) report(`must not contain '${text}'`);
      for (const end of FORBIDDEN_ENDS) if (path.string.endsWith(end)) report(`cannot end with '${end}'`);
      break;
    case 'ImplementationSpecific':
      if (path.string !== '' && !isAbsolute) report('must be an absolute path');
      break;
    default:
      pathType.notSupported(PATH_TYPES);
  }
  validateBackend(item.at('backend'));
}

function validateBackend(backend: Field): void {
  const service = backend.at('service');
  const hasResource = backend.at('resource').isSet;
  if (!service.isSet || hasResource) {
    if (service.isSet) backend.invalid('cannot set both resource and service backends', '');
    else if (!hasResource) backend.invalid('resource or service backend is required', '');
    return;
  }
  service.at('name').require(dns1035Label);
  const name = service.at('port', 'name');
  const number = service.at('port', 'number');
  const hasNumber = (number.number ?? 0) !== 0;
  if (name.string !== '' && hasNumber) backend.invalid('cannot set both port name & port number', '');
  else if (name.string !== '') name.check(portName(name.string));
  else if (hasNumber) validatePort(number);
  else backend.required('port name or number is required');
}

const POLICY_TYPES = ['Ingress', 'Egress'];

/** Checks the spec of a NetworkPolicy. */
export function validateNetworkPolicy(spec: Field): void {
  validateSelector(spec.at('podSelector'));
  for (const rule of spec.at('ingress').items) validatePolicyRule(rule, 'from');
  for (const rule of spec.at('egress').items) validatePolicyRule(rule, 'to');
  const types = spec.at('policyTypes');
  if (types.list.length > POLICY_TYPES.length) types.invalid('may not specify more than two policyTypes');
  else for (const type of types.items) type.oneOfIfSet(POLICY_TYPES);
}

function validatePolicyRule(rule: Field, peers: 'from' | 'to'): void {
  for (const port of rule.at('ports').items) validatePolicyPort(port);
  for (const peer of rule.at(peers).items) validatePeer(peer);
}

function validatePolicyPort(item: Field): void {
  item.at('protocol').oneOfIfSet(['TCP', 'UDP', 'SCTP']);
  const port = item.at('port');
  const endPort = item.at('endPort');
  if (!port.isSet) {
    if (endPort.isSet) endPort.invalid('may not be specified when `port` is not specified');
  } else if (port.number !== undefined) {
    validatePort(port);
    if (endPort.number === undefined) return;
    if (endPort.number < port.number) endPort.invalid('must be greater than or equal to `port`', port.number);
    validatePort(endPort);
  } else {
    if (endPort.isSet) endPort.invalid('may not be specified when `port` is non-numeric');
    port.check(portName(port.string));
  }
}

function validatePeer(peer: Field): void {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => peer.at(field).isSet);
  for (const field of given) {
    if (field === 'ipBlock') validateBlock(peer.at('ipBlock'));
    else validateSelector(peer.at(field));
  }
  if (given.length === 0) peer.required('must specify a peer');
  else if (given.length > 1 && given.includes('ipBlock'))
    peer.forbidden('may not specify both ipBlock and another peer');
}

const CIDR_PROBLEM = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function validateBlock(block: Field): void {
  const cidr = block.at('cidr');
  const range = parseCidr(cidr.string);
  if (cidr.string === '') cidr.required();
  else if (range === undefined) cidr.invalid(CIDR_PROBLEM);
  else {
    for (const item of block.at('except').items) {
      const except = parseCidr(item.string);
      if (except === undefined) item.invalid(CIDR_PROBLEM);
      else if (!contains(range, except)) item.invalid('must be a strict subset of `cidr`');
    }
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
