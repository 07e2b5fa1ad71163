import { type Fields, scalarString } from '../json-access.ts';
import { parseQuantity } from '../quantity.ts';
import type { Field } from './field.ts';
import {
  configKey,
  dnsLabel,
  dnsSubdomain,
  envName,
  headerName,
  inRange,
  portName,
  portNumber,
  qualifiedName,
} from './name-rules.ts';

/** The parts of its pod that a container refers to. */
export interface ContainerScope {
  /** Names of the valid volumes. */
  readonly volumes: ReadonlySet<string>;
  readonly gracePeriodSeconds: number | undefined;
}

const MAX_INT32 = 2_147_483_647;

/** Checks what all containers of a pod have. */
export function validateContainer(container: Field, scope: ContainerScope): void {
  container.at('name').require(dnsLabel);
  container.at('image').require();
  container.at('terminationMessagePolicy').oneOf(['File', 'FallbackToLogsOnError']);
  validatePorts(container.at('ports'));
  for (const variable of container.at('env').items) validateVariable(variable);
  validateEnvFrom(container.at('envFrom'));
  validateMounts(container.at('volumeMounts'), scope);
  container.at('imagePullPolicy').oneOf(['Always', 'IfNotPresent', 'Never']);
  validateResources(container.at('resources'));
  validateIds(container.at('securityContext'), ['runAsUser', 'runAsGroup']);
}

function validatePorts(ports: Field): void {
  const names = new Set<string>();
  for (const port of ports.items) {
    const name = port.at('name');
    if (name.string !== '' && name.check(portName(name.string))) name.unique(names);
    const containerPort = port.at('containerPort');
    if ((containerPort.number ?? 0) === 0) containerPort.required();
    else validatePort(containerPort);
    const hostPort = port.at('hostPort');
    if ((hostPort.number ?? 0) !== 0) validatePort(hostPort);
    port.at('protocol').oneOf(['SCTP', 'TCP', 'UDP']);
  }
}

/** The number of a port; missing is 0. */
export function validatePort(port: Field): void {
  const number = port.number ?? 0;
  port.check(portNumber(number), number);
}

const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];
const MORE_THAN_ONE = 'may not have more than one field specified at a time';

function validateVariable(variable: Field): void {
  variable.at('name').require(envName);
  const source = variable.at('valueFrom');
  if (!source.isSet) return;
  const given = ENV_SOURCES.filter((field) => source.at(field).isSet);
  if (given.includes('fieldRef')) validateFieldReference(source.at('fieldRef'));
  for (const field of given.filter((each) => each.endsWith('KeyRef'))) {
    validateObjectName(source.at(field, 'name'));
    source.at(field, 'key').require(configKey);
  }
  if (given.length === 0)
    source.invalid(
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      '',
    );
  else if (variable.at('value').string !== '')
    source.invalid('may not be specified when `value` is not empty', '');
  else if (given.length > 1) source.invalid(MORE_THAN_ONE, '');
}

/** The name of an object, which an empty string is not. */
function validateObjectName(name: Field): void {
  name.check(dnsSubdomain(name.string), name.string);
}

/** Fields of a pod that become variables. */
const POD_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const SUBSCRIPTED = /^(.*)\['(.*)'\]$/;

function validateFieldReference(reference: Field): void {
  const fieldPath = reference.at('fieldPath');
  const { string: text } = fieldPath;
  const [, owner, subscript = ''] = SUBSCRIPTED.exec(text) ?? [];
  const annotation = subscript.toLowerCase();
  if (text === '') fieldPath.required();
  else if (owner === 'metadata.annotations') reference.check(qualifiedName(annotation), annotation);
  else if (owner === 'metadata.labels') reference.check(qualifiedName(subscript), subscript);
  else if (text === 'metadata.annotations' || text === 'metadata.labels') fieldPath.notSupported(POD_FIELDS);
  else if (!POD_FIELDS.includes(text))
    fieldPath.invalid(`error converting fieldPath: field label not supported: ${text}`);
}

function validateEnvFrom(sources: Field): void {
  for (const source of sources.items) {
    source.at('prefix').checkIfSet(envName);
    const given = ['configMapRef', 'secretRef'].filter((field) => source.at(field).isSet);
    for (const field of given) validateObjectName(source.at(field, 'name'));
    if (given.length === 0) sources.invalid('must specify one of: `configMapRef` or `secretRef`', '');
    else if (given.length > 1) sources.invalid(MORE_THAN_ONE, '');
  }
}

function validateMounts(mounts: Field, { volumes }: ContainerScope): void {
  const places = new Set<string>();
  for (const mount of mounts.items) {
    const name = mount.at('name');
    name.require();
    if (!volumes.has(name.string)) name.notFound(name.string);
    const mountPath = mount.at('mountPath');
    mountPath.require();
    if (places.has(mountPath.string)) mountPath.invalid('must be unique', mountPath.string);
    places.add(mountPath.string);
    const subPath = mount.at('subPath');
    // The API server leaves the position out of these paths.
    if (subPath.string !== '') validateDescending(subPath.named(`${mounts.path}.subPath`));
    const expression = mount.at('subPathExpr');
    if (expression.string === '') continue;
    if (subPath.string !== '') expression.invalid('subPathExpr and subPath are mutually exclusive');
    validateDescending(expression.named(`${mounts.path}.subPathExpr`));
  }
}

/** A path that stays below where it starts. */
export function validateDescending(target: Field): void {
  if (target.string.startsWith('/')) target.invalid('must be a relative path');
  validateNoBacksteps(target);
}

export function validateNoBacksteps(target: Field): void {
  if (target.string.split('/').includes('..')) target.invalid("must not contain '..'");
}

const STANDARD_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];

/** Checks requests and limits of a container. */
function validateResources(resources: Field): void {
  const limits = quantities(resources.at('limits').fields);
  for (const [name, text] of Object.entries(limits))
    validateResource(name, resources.named(`${resources.path}.limits[${name}]`, text));
  const requests = resources.at('requests');
  for (const [name, text] of Object.entries(quantities(requests.fields))) {
    validateResource(name, requests.named(`${requests.path}[${name}]`, text));
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    const canExceed = STANDARD_RESOURCES.includes(name);
    if (limit === undefined) {
      if (!canExceed) resources.at('limits').required('Limit must be set for non overcommitable resources');
    } else if (nanoOf(text) !== nanoOf(limit) && !canExceed)
      requests.invalid(`must be equal to ${name} limit of ${limit}`, text);
    else if (nanoOf(text) > nanoOf(limit))
      requests.invalid(`must be less than or equal to ${name} limit of ${limit}`, text);
  }
}

function quantities(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, scalarString(value)]));
}

function nanoOf(text: string): bigint {
  const parsed = parseQuantity(text);
  return parsed.problem === undefined ? parsed.nano : 0n;
}

const RESOURCES_OF_OTHERS = ['storage', 'pods', 'services', 'secrets', 'configmaps'];

function validateResource(name: string, quantity: Field): void {
  const isName = quantity.check(qualifiedName(name), name);
  const isStandard = STANDARD_RESOURCES.includes(name) || name.startsWith('hugepages-');
  if (isName && !name.includes('/') && !isStandard) {
    if (!RESOURCES_OF_OTHERS.includes(name))
      quantity.invalid('must be a standard resource type or fully qualified', name);
    quantity.invalid('must be a standard resource for containers', name);
  }
  const nano = nanoOf(quantity.string);
  if (nano < 0n) quantity.invalid('must be greater than or equal to 0');
  const isWhole = name.includes('/') && !name.startsWith('kubernetes.io/');
  if (isWhole && nano % 1_000_000_000n !== 0n) quantity.invalid('must be an integer');
}

/** A quantity that must be more than zero. */
export function validatePositiveQuantity(quantity: Field): void {
  const text = scalarString(quantity.value);
  if (nanoOf(text) <= 0n) quantity.invalid('must be greater than zero', text);
}

/** Numbers of users and groups. */
export function validateIds(context: Field, names: readonly string[]): void {
  for (const id of names.map((name) => context.at(name)))
    if (id.number !== undefined) id.check(inRange(id.number, 0, MAX_INT32));
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

/** Checks what a probe or a hook of the life cycle does: exactly one thing. */
export function validateHandler(handler: Field, scope: ContainerScope): void {
  const [first, ...others] = HANDLERS.filter((name) => handler.at(name).isSet);
  if (first === undefined) handler.required('must specify a handler type');
  else validateAction(first, handler.at(first), scope);
  for (const other of others) handler.at(other).forbidden('may not specify more than 1 handler type');
}

function validateAction(type: string, action: Field, { gracePeriodSeconds }: ContainerScope): void {
  switch (type) {
    case 'exec':
      if (action.at('command').list.length === 0) action.at('command').required();
      break;
    case 'httpGet': {
      action.at('path').require();
      validatePortReference(action.at('port'));
      const scheme = action.at('scheme');
      if (!['HTTP', 'HTTPS'].includes(scheme.string)) scheme.notSupported(['HTTP', 'HTTPS'], scheme.string);
      const headers = action.at('httpHeaders');
      for (const name of headers.items.map((header) => header.at('name').string))
        headers.check(headerName(name), name);
      break;
    }
    case 'sleep': {
      const seconds = action.at('seconds').number ?? 0;
      if (gracePeriodSeconds !== undefined && (seconds < 0 || seconds > gracePeriodSeconds))
        action.invalid(
          `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`,
          seconds,
        );
      break;
    }
    default:
      validatePortReference(action.at('port'));
  }
}

/** A port by number or by name; missing is number 0. */
export function validatePortReference(port: Field): void {
  if (typeof port.value === 'string') port.check(portName(port.value));
  else validatePort(port);
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

/** Checks a probe, if there is one. */
export function validateProbe(container: Field, name: string, scope: ContainerScope): void {
  const probe = container.at(name);
  if (!probe.isSet) return;
  validateHandler(probe, scope);
  for (const field of PROBE_NUMBERS) probe.at(field).nonNegative();
  const gracePeriod = probe.at('terminationGracePeriodSeconds');
  if (gracePeriod.number !== undefined && gracePeriod.number <= 0)
    gracePeriod.invalid('must be greater than 0');
  const successThreshold = probe.at('successThreshold');
  if (name !== 'readinessProbe') {
    if (successThreshold.number !== 1) successThreshold.invalid('must be 1');
  } else if (gracePeriod.number !== undefined) gracePeriod.invalid('must not be set for readinessProbes');
}
