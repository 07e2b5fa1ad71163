import { stringsAt } from '../json-access.ts';
import type { Field, GoStruct } from './field.ts';
import { configKey, dnsLabel, dnsSubdomain, qualifiedName } from './name-rules.ts';
import { validatePort, validatePortReference } from './validate-container.ts';
import { validateLabels } from './validate-meta.ts';

const MAX_DATA_BYTES = 1024 * 1024;

/** Checks the keys of the data of a ConfigMap or Secret, and returns how large the data are. */
function validateData(
  data: Field,
  encoding: 'utf8' | 'base64',
  others: Readonly<Record<string, string>> = {},
): number {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(stringsAt(data.value))) {
    const entry = data.named(`${data.path}[${key}]`, key);
    entry.check(configKey(key));
    if (Object.hasOwn(others, key)) entry.invalid('duplicate of key present in binaryData');
    sizeBytes += Buffer.byteLength(value, encoding);
  }
  return sizeBytes;
}

/** Checks a ConfigMap. */
export function validateConfigMap(object: Field): void {
  const binaryData = object.at('binaryData');
  const sizeBytes =
    validateData(object.at('data'), 'utf8', stringsAt(binaryData.value)) + validateData(binaryData, 'base64');
  if (sizeBytes > MAX_DATA_BYTES) object.named('[]').tooLong(MAX_DATA_BYTES);
}

/** Keys that a type of Secret must have; of a basic-auth Secret one is enough. */
const SECRET_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/basic-auth': ['username', 'password'],
};

/** Checks a Secret, after `stringData` was moved to `data`. */
export function validateSecret(object: Field): void {
  const data = object.at('data');
  if (validateData(data, 'base64') > MAX_DATA_BYTES) data.tooLong(MAX_DATA_BYTES);
  const type = object.at('type').string;
  const account = 'kubernetes.io/service-account.name';
  const annotation = object.at('metadata', 'annotations', account);
  if (type === 'kubernetes.io/service-account-token' && annotation.string === '')
    annotation.named(`metadata.annotations[${account}]`).required();
  const keys = SECRET_KEYS[type] ?? [];
  const content = stringsAt(data.value);
  const missing = keys.filter(
    (key) => content[key] === undefined || (type.endsWith('ssh-auth') && content[key] === ''),
  );
  if (type === 'kubernetes.io/basic-auth' && missing.length < keys.length) return;
  for (const key of missing) data.named(`data[${key}]`).required();
  const [first = ''] = keys;
  if (missing.length === 0 && type.startsWith('kubernetes.io/docker'))
    validateJson(data.named(`data[${first}]`, content[first]));
}

function validateJson(data: Field): void {
  const problem = jsonProblem(Buffer.from(data.string, 'base64').toString('utf8'));
  if (problem !== undefined) data.invalid(problem, '<secret contents redacted>');
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    const place = text.trimStart();
    if (place === '') return 'unexpected end of JSON input';
    return `invalid character '${place.charAt(0)}' looking for beginning of value`;
  }
}

const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$/;

/** Checks the spec of a Service, with its defaults filled in. */
export function validateService(spec: Field): void {
  const type = spec.at('type').string;
  const isHeadless = spec.at('clusterIP').string === 'None';
  const ports = spec.at('ports');
  if (ports.list.length === 0 && !isHeadless && type !== 'ExternalName') ports.required();
  validateServiceType(spec, type, isHeadless);
  validatePorts(ports);
  validateLabels(spec.at('selector'));
  const affinity = spec.at('sessionAffinity');
  affinity.oneOf(['ClientIP', 'None']);
  const affinityConfig = spec.at('sessionAffinityConfig');
  if (affinity.value === 'None' && affinityConfig.isSet)
    affinityConfig.forbidden('must not be set when session affinity is None');
  if (type !== 'ExternalName') validateAddresses(spec);
  spec.at('type').oneOf(SERVICE_TYPES);
  validateNodePorts(type, ports);
  validatePolicies(spec, type);
}

function validateServiceType(spec: Field, type: string, isHeadless: boolean): void {
  const addresses = spec.at('clusterIPs');
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort'))
    spec.named('spec.clusterIPs[0]').invalid(`may not be set to 'None' for ${type} services`, 'None');
  if (type !== 'ExternalName') return;
  const unset = 'may not be set for ExternalName services';
  if (addresses.list.length > 0 || spec.at('clusterIP').string !== '') addresses.forbidden(unset);
  if (spec.at('ipFamilies').list.length > 0) spec.at('ipFamilies').forbidden(unset);
  if (spec.at('ipFamilyPolicy').isSet) spec.at('ipFamilyPolicy').forbidden(unset);
  const name = spec.at('externalName');
  name.named(name.path, name.string.replace(/\.$/, '')).require(dnsSubdomain);
}

function validatePorts(ports: Field): void {
  const names = new Set<string>();
  for (const port of ports.items) {
    const name = port.at('name');
    if (ports.list.length > 1) name.require(dnsLabel);
    else name.checkIfSet(dnsLabel);
    if (name.string !== '') name.unique(names);
    validatePort(port.at('port'));
    port.at('protocol').oneOf(['SCTP', 'TCP', 'UDP']);
    validatePortReference(port.at('targetPort'));
    port.at('appProtocol').checkIfSet(qualifiedName);
  }
}

function validateAddresses(spec: Field): void {
  for (const family of spec.at('ipFamilies').items) family.oneOfIfSet(['IPv4', 'IPv6']);
  spec.at('ipFamilyPolicy').oneOfIfSet(['PreferDualStack', 'RequireDualStack', 'SingleStack']);
  const [first = ''] = spec.at('clusterIPs').list.map(String);
  const address = spec.at('clusterIP').string || first;
  if (address !== '' && address !== 'None' && !IPV4.test(address) && !address.includes(':'))
    spec
      .named('spec.clusterIPs[0]')
      .invalid('must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)', address);
}

function validateNodePorts(type: string, ports: Field): void {
  for (const nodePort of ports.items.map((port) => port.at('nodePort'))) {
    if (type === 'ClusterIP' && (nodePort.number ?? 0) !== 0)
      nodePort.forbidden("may not be used when `type` is 'ClusterIP'");
  }
  const nodePorts = new Set<string>();
  for (const port of ports.items) {
    const nodePort = port.at('nodePort');
    if ((nodePort.number ?? 0) === 0) continue;
    const title = `${port.at('protocol').string}/${nodePort.number}`;
    if (nodePorts.has(title)) nodePort.duplicate();
    nodePorts.add(title);
  }
  const numbers = new Set<string>();
  for (const port of ports.items) {
    const protocol = port.at('protocol').string;
    const number = port.at('port').number ?? 0;
    if (numbers.has(`${protocol}/${number}`)) port.duplicate(goServicePort(protocol, number));
    numbers.add(`${protocol}/${number}`);
  }
}

/** The part of a port that must be unique, as the API server shows it: by the names of its internal type. */
function goServicePort(protocol: string, port: number): GoStruct {
  const fields = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
  return new Map(Object.entries(fields));
}

function validatePolicies(spec: Field, type: string): void {
  const isBalanced = type === 'LoadBalancer';
  const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";
  if (spec.at('loadBalancerSourceRanges').list.length > 0 && !isBalanced)
    spec.named('spec.LoadBalancerSourceRanges').forbidden(onlyBalanced);
  const allocation = spec.at('allocateLoadBalancerNodePorts');
  if (allocation.isSet && !isBalanced) allocation.forbidden(onlyBalanced);
  const balancerClass = spec.at('loadBalancerClass');
  if (balancerClass.string !== '' && !isBalanced) balancerClass.forbidden(onlyBalanced);
  const external = spec.at('externalTrafficPolicy');
  const hasAddresses = spec.at('externalIPs').list.length > 0;
  const isExternal = isBalanced || type === 'NodePort' || (type === 'ClusterIP' && hasAddresses);
  if (external.string !== '') {
    if (isExternal) external.oneOfIfSet(TRAFFIC_POLICIES);
    else external.invalid('may only be set for externally-accessible services');
  }
  spec.at('internalTrafficPolicy').oneOfIfSet(TRAFFIC_POLICIES);
}

/** Checks the finalizers in the spec of a Namespace. */
export function validateNamespace(object: Field): void {
  const finalizers = object.at('spec', 'finalizers');
  for (const finalizer of finalizers.list.map(String)) finalizers.check(qualifiedName(finalizer), finalizer);
}
