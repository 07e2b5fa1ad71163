import { type Fields, listAt, numberAt, scalarText, stringAt, stringsAt, valueAt } from '../json-access.ts';
import type { ResourceObject } from '../resource-object.ts';
import type { FieldErrors, GoStruct } from './field-errors.ts';
import { configKey, dnsLabel, dnsSubdomain, portNumber, qualifiedName } from './name-rules.ts';
import { validatePortReference } from './validate-container.ts';
import { validateLabels } from './validate-meta.ts';

const MAX_DATA_BYTES = 1024 * 1024;

/** Checks a ConfigMap. */
export function validateConfigMap(object: ResourceObject, errors: FieldErrors): void {
  const data = stringsAt(object, 'data');
  const binaryData = stringsAt(object, 'binaryData');
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(data)) {
    errors.invalidEach(`data[${key}]`, key, configKey(key));
    if (binaryData[key] !== undefined)
      errors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    sizeBytes += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    errors.invalidEach(`binaryData[${key}]`, key, configKey(key));
    sizeBytes += Buffer.byteLength(value, 'base64');
  }
  if (sizeBytes > MAX_DATA_BYTES) errors.tooLong('[]', MAX_DATA_BYTES);
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
export function validateSecret(object: ResourceObject, errors: FieldErrors): void {
  const data = stringsAt(object, 'data');
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(data)) {
    errors.invalidEach(`data[${key}]`, key, configKey(key));
    sizeBytes += Buffer.byteLength(value, 'base64');
  }
  if (sizeBytes > MAX_DATA_BYTES) errors.tooLong('data', MAX_DATA_BYTES);
  const type = stringAt(object, 'type');
  const account = 'kubernetes.io/service-account.name';
  if (type === 'kubernetes.io/service-account-token' && !object.metadata.annotations?.[account])
    errors.required(`metadata.annotations[${account}]`);
  const keys = SECRET_KEYS[type] ?? [];
  const missing = keys.filter(
    (key) => data[key] === undefined || (type.endsWith('ssh-auth') && data[key] === ''),
  );
  if (type === 'kubernetes.io/basic-auth' && missing.length < keys.length) return;
  for (const key of missing) errors.required(`data[${key}]`);
  if (missing.length === 0 && type.startsWith('kubernetes.io/docker'))
    validateJson(data, keys[0] ?? '', errors);
}

function validateJson(data: Readonly<Record<string, string>>, key: string, errors: FieldErrors): void {
  const text = Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const problem = jsonProblem(text);
  if (problem !== undefined) errors.invalid(`data[${key}]`, '<secret contents redacted>', problem);
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
const AFFINITIES = ['ClientIP', 'None'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const IP_FAMILIES = ['IPv4', 'IPv6'];
const IP_FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$/;

/** Checks the spec of a Service, with its defaults filled in. */
export function validateService(spec: Fields, errors: FieldErrors): void {
  const type = stringAt(spec, 'type');
  const isHeadless = stringAt(spec, 'clusterIP') === 'None';
  const ports = listAt(spec, 'ports');
  if (ports.length === 0 && !isHeadless && type !== 'ExternalName') errors.required('spec.ports');
  validateServiceType(spec, type, isHeadless, errors);
  validatePorts(ports, errors);
  validateLabels(stringsAt(spec, 'selector'), 'spec.selector', errors);
  errors.oneOf('spec.sessionAffinity', spec['sessionAffinity'], AFFINITIES);
  if (spec['sessionAffinity'] === 'None' && spec['sessionAffinityConfig'] !== undefined)
    errors.forbidden('spec.sessionAffinityConfig', 'must not be set when session affinity is None');
  if (type !== 'ExternalName') validateAddresses(spec, errors);
  errors.oneOf('spec.type', type, SERVICE_TYPES);
  validateNodePorts(type, ports, errors);
  validatePolicies(spec, type, errors);
}

function validateServiceType(spec: Fields, type: string, isHeadless: boolean, errors: FieldErrors): void {
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort'))
    errors.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`);
  if (type !== 'ExternalName') return;
  const unset = 'may not be set for ExternalName services';
  if (listAt(spec, 'clusterIPs').length > 0 || stringAt(spec, 'clusterIP') !== '')
    errors.forbidden('spec.clusterIPs', unset);
  if (listAt(spec, 'ipFamilies').length > 0) errors.forbidden('spec.ipFamilies', unset);
  if (spec['ipFamilyPolicy'] !== undefined) errors.forbidden('spec.ipFamilyPolicy', unset);
  const name = stringAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') errors.required('spec.externalName');
  else errors.invalidEach('spec.externalName', name, dnsSubdomain(name));
}

function validatePorts(ports: readonly unknown[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    const name = stringAt(port, 'name');
    if (ports.length > 1 && name === '') errors.required(`${path}.name`);
    else if (name !== '') {
      errors.invalidEach(`${path}.name`, name, dnsLabel(name));
      errors.unique(`${path}.name`, name, names);
    }
    const number = numberAt(port, 'port') ?? 0;
    errors.invalidEach(`${path}.port`, number, portNumber(number));
    errors.oneOf(`${path}.protocol`, valueAt(port, 'protocol'), PROTOCOLS);
    validatePortReference(valueAt(port, 'targetPort'), `${path}.targetPort`, errors);
    const appProtocol = stringAt(port, 'appProtocol');
    if (appProtocol !== '')
      errors.invalidEach(`${path}.appProtocol`, appProtocol, qualifiedName(appProtocol));
  }
}

function validateAddresses(spec: Fields, errors: FieldErrors): void {
  for (const [index, family] of listAt(spec, 'ipFamilies').entries()) {
    if (!IP_FAMILIES.includes(String(family)))
      errors.notSupported(`spec.ipFamilies[${index}]`, family, IP_FAMILIES);
  }
  const policy = spec['ipFamilyPolicy'];
  if (policy !== undefined && !IP_FAMILY_POLICIES.includes(scalarText(policy)))
    errors.notSupported('spec.ipFamilyPolicy', policy, IP_FAMILY_POLICIES);
  const address = stringAt(spec, 'clusterIP') || stringAt(spec, 'clusterIPs', 0);
  if (address !== '' && address !== 'None' && !IPV4.test(address) && !address.includes(':'))
    errors.invalid(
      'spec.clusterIPs[0]',
      address,
      'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    );
}

function validateNodePorts(type: string, ports: readonly unknown[], errors: FieldErrors): void {
  const nodePorts = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, port] of ports.entries()) {
    if (type === 'ClusterIP' && (numberAt(port, 'nodePort') ?? 0) !== 0)
      errors.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
  }
  for (const [index, port] of ports.entries()) {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    if (nodePort === 0) continue;
    const title = `${stringAt(port, 'protocol')}/${nodePort}`;
    if (nodePorts.has(title)) errors.duplicate(`spec.ports[${index}].nodePort`, nodePort);
    nodePorts.add(title);
  }
  for (const [index, port] of ports.entries()) {
    const number = numberAt(port, 'port') ?? 0;
    const protocol = stringAt(port, 'protocol');
    if (numbers.has(`${protocol}/${number}`))
      errors.duplicate(`spec.ports[${index}]`, goServicePort(protocol, number));
    numbers.add(`${protocol}/${number}`);
  }
}

/** The part of a port that must be unique, as the API server shows it: by the names of its internal type. */
function goServicePort(protocol: string, port: number): GoStruct {
  const fields = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
  return new Map(Object.entries(fields));
}

function validatePolicies(spec: Fields, type: string, errors: FieldErrors): void {
  const isBalanced = type === 'LoadBalancer';
  if (listAt(spec, 'loadBalancerSourceRanges').length > 0 && !isBalanced)
    errors.forbidden('spec.LoadBalancerSourceRanges', "may only be used when `type` is 'LoadBalancer'");
  if (spec['allocateLoadBalancerNodePorts'] !== undefined && !isBalanced)
    errors.forbidden('spec.allocateLoadBalancerNodePorts', "may only be used when `type` is 'LoadBalancer'");
  if (stringAt(spec, 'loadBalancerClass') !== '' && !isBalanced)
    errors.forbidden('spec.loadBalancerClass', "may only be used when `type` is 'LoadBalancer'");
  const external = stringAt(spec, 'externalTrafficPolicy');
  const isExternal =
    isBalanced || type === 'NodePort' || (type === 'ClusterIP' && listAt(spec, 'externalIPs').length > 0);
  if (!isExternal && external !== '')
    errors.invalid(
      'spec.externalTrafficPolicy',
      external,
      'may only be set for externally-accessible services',
    );
  else if (isExternal && external !== '' && !TRAFFIC_POLICIES.includes(external))
    errors.notSupported('spec.externalTrafficPolicy', external, TRAFFIC_POLICIES);
  const internal = spec['internalTrafficPolicy'];
  if (internal !== undefined && !TRAFFIC_POLICIES.includes(scalarText(internal)))
    errors.notSupported('spec.internalTrafficPolicy', internal, TRAFFIC_POLICIES);
}

/** Names of the parts of a Namespace that hold it back. */
export function validateNamespace(object: ResourceObject, errors: FieldErrors): void {
  for (const finalizer of listAt(object, 'spec', 'finalizers').map(String))
    errors.invalidEach('spec.finalizers', finalizer, qualifiedName(finalizer));
}
