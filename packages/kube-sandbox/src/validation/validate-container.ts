import { type Fields, fieldsAt, listAt, numberAt, scalarText, stringAt, valueAt } from '../json-access.ts';
import { parseQuantity } from '../quantity.ts';
import type { FieldErrors } from './field-errors.ts';
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

/** What of its pod a container refers to. */
export interface ContainerScope {
  /** Names of the valid volumes. */
  readonly volumes: ReadonlySet<string>;
  readonly gracePeriodSeconds: number | undefined;
}

const MAX_INT32 = 2_147_483_647;
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** Checks what all containers of a pod have. */
export function validateContainer(
  container: Fields,
  scope: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  const name = stringAt(container, 'name');
  if (name === '') errors.required(`${path}.name`);
  else errors.invalidEach(`${path}.name`, name, dnsLabel(name));
  if (stringAt(container, 'image') === '') errors.required(`${path}.image`);
  errors.oneOf(`${path}.terminationMessagePolicy`, container['terminationMessagePolicy'], [
    'File',
    'FallbackToLogsOnError',
  ]);
  validatePorts(listAt(container, 'ports'), `${path}.ports`, errors);
  validateEnv(listAt(container, 'env'), `${path}.env`, errors);
  validateEnvFrom(listAt(container, 'envFrom'), `${path}.envFrom`, errors);
  validateMounts(listAt(container, 'volumeMounts'), scope, `${path}.volumeMounts`, errors);
  errors.oneOf(`${path}.imagePullPolicy`, container['imagePullPolicy'], PULL_POLICIES);
  validateResources(fieldsAt(container, 'resources'), `${path}.resources`, errors);
  validateSecurity(fieldsAt(container, 'securityContext'), `${path}.securityContext`, errors);
}

function validatePorts(ports: readonly unknown[], path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const place = `${path}[${index}]`;
    const name = stringAt(port, 'name');
    const problems = name === '' ? [] : portName(name);
    errors.invalidEach(`${place}.name`, name, problems);
    if (name !== '' && problems.length === 0) errors.unique(`${place}.name`, name, names);
    const containerPort = numberAt(port, 'containerPort') ?? 0;
    if (containerPort === 0) errors.required(`${place}.containerPort`);
    else errors.invalidEach(`${place}.containerPort`, containerPort, portNumber(containerPort));
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) errors.invalidEach(`${place}.hostPort`, hostPort, portNumber(hostPort));
    errors.oneOf(`${place}.protocol`, valueAt(port, 'protocol'), PROTOCOLS);
  }
}

const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

function validateEnv(variables: readonly unknown[], path: string, errors: FieldErrors): void {
  for (const [index, variable] of variables.entries()) {
    const place = `${path}[${index}]`;
    const name = stringAt(variable, 'name');
    if (name === '') errors.required(`${place}.name`);
    else errors.invalidEach(`${place}.name`, name, envName(name));
    if (valueAt(variable, 'valueFrom') !== undefined)
      validateEnvSource(
        fieldsAt(variable, 'valueFrom'),
        stringAt(variable, 'value'),
        `${place}.valueFrom`,
        errors,
      );
  }
}

function validateEnvSource(source: Fields, value: string, path: string, errors: FieldErrors): void {
  const given = ENV_SOURCES.filter((field) => source[field] !== undefined);
  if (given.includes('fieldRef'))
    validateFieldReference(fieldsAt(source, 'fieldRef'), `${path}.fieldRef`, errors);
  for (const field of given.filter((each) => each.endsWith('KeyRef'))) {
    const name = stringAt(source, field, 'name');
    errors.invalidEach(`${path}.${field}.name`, name, dnsSubdomain(name));
    const key = stringAt(source, field, 'key');
    if (key === '') errors.required(`${path}.${field}.key`);
    else errors.invalidEach(`${path}.${field}.key`, key, configKey(key));
  }
  if (given.length === 0)
    errors.invalid(
      path,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    );
  else if (value !== '') errors.invalid(path, '', 'may not be specified when `value` is not empty');
  else if (given.length > 1) errors.invalid(path, '', 'may not have more than one field specified at a time');
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

function validateFieldReference(reference: Fields, path: string, errors: FieldErrors): void {
  const fieldPath = stringAt(reference, 'fieldPath');
  if (fieldPath === '') {
    errors.required(`${path}.fieldPath`);
    return;
  }
  const [, owner, subscript = ''] = SUBSCRIPTED.exec(fieldPath) ?? [];
  if (owner === 'metadata.annotations')
    errors.invalidEach(path, subscript.toLowerCase(), qualifiedName(subscript.toLowerCase()));
  else if (owner === 'metadata.labels') errors.invalidEach(path, subscript, qualifiedName(subscript));
  else if (fieldPath === 'metadata.annotations' || fieldPath === 'metadata.labels')
    errors.notSupported(`${path}.fieldPath`, fieldPath, POD_FIELDS);
  else if (!POD_FIELDS.includes(fieldPath))
    errors.invalid(
      `${path}.fieldPath`,
      fieldPath,
      `error converting fieldPath: field label not supported: ${fieldPath}`,
    );
}

function validateEnvFrom(sources: readonly unknown[], path: string, errors: FieldErrors): void {
  for (const [index, source] of sources.entries()) {
    const prefix = stringAt(source, 'prefix');
    if (prefix !== '') errors.invalidEach(`${path}[${index}].prefix`, prefix, envName(prefix));
    const given = ['configMapRef', 'secretRef'].filter((field) => valueAt(source, field) !== undefined);
    for (const field of given) {
      const name = stringAt(source, field, 'name');
      errors.invalidEach(`${path}[${index}].${field}.name`, name, dnsSubdomain(name));
    }
    if (given.length === 0) errors.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (given.length > 1)
      errors.invalid(path, '', 'may not have more than one field specified at a time');
  }
}

function validateMounts(
  mounts: readonly unknown[],
  { volumes }: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  const places = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const place = `${path}[${index}]`;
    const name = stringAt(mount, 'name');
    if (name === '') errors.required(`${place}.name`);
    if (!volumes.has(name)) errors.notFound(`${place}.name`, name);
    const mountPath = stringAt(mount, 'mountPath');
    if (mountPath === '') errors.required(`${place}.mountPath`);
    if (places.has(mountPath)) errors.invalid(`${place}.mountPath`, mountPath, 'must be unique');
    places.add(mountPath);
    const subPath = stringAt(mount, 'subPath');
    // The API server leaves the position out of these paths.
    if (subPath !== '') validateDescending(subPath, `${path}.subPath`, errors);
    const expression = stringAt(mount, 'subPathExpr');
    if (expression === '') continue;
    if (subPath !== '')
      errors.invalid(`${place}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive');
    validateDescending(expression, `${path}.subPathExpr`, errors);
  }
}

/** A path that stays below where it starts. */
export function validateDescending(target: string, path: string, errors: FieldErrors): void {
  if (target.startsWith('/')) errors.invalid(path, target, 'must be a relative path');
  validateNoBacksteps(target, path, errors);
}

export function validateNoBacksteps(target: string, path: string, errors: FieldErrors): void {
  if (target.split('/').includes('..')) errors.invalid(path, target, "must not contain '..'");
}

const STANDARD_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];

/** Checks requests and limits of a container. */
export function validateResources(resources: Fields, path: string, errors: FieldErrors): void {
  const limits = quantities(resources, 'limits');
  for (const [name, text] of Object.entries(limits))
    validateResource(name, text, `${path}.limits[${name}]`, errors);
  for (const [name, text] of Object.entries(quantities(resources, 'requests'))) {
    validateResource(name, text, `${path}.requests[${name}]`, errors);
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
    const canExceed = STANDARD_RESOURCES.includes(name);
    if (limit === undefined) {
      if (!canExceed) errors.required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
    } else if (nanoOf(text) !== nanoOf(limit) && !canExceed)
      errors.invalid(`${path}.requests`, text, `must be equal to ${name} limit of ${limit}`);
    else if (nanoOf(text) > nanoOf(limit))
      errors.invalid(`${path}.requests`, text, `must be less than or equal to ${name} limit of ${limit}`);
  }
}

function quantities(resources: Fields, field: string): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsAt(resources, field));
  return Object.fromEntries(entries.map(([name, value]) => [name, scalarText(value)]));
}

function nanoOf(text: string): bigint {
  const parsed = parseQuantity(text);
  return parsed.problem === undefined ? parsed.nano : 0n;
}

function validateResource(name: string, text: string, path: string, errors: FieldErrors): void {
  const problems = qualifiedName(name);
  errors.invalidEach(path, name, problems);
  if (problems.length === 0 && !name.includes('/')) {
    const isKnown = STANDARD_RESOURCES.includes(name) || name.startsWith('hugepages-');
    if (!isKnown) {
      const isOfOthers = ['storage', 'pods', 'services', 'secrets', 'configmaps'].includes(name);
      if (!isOfOthers) errors.invalid(path, name, 'must be a standard resource type or fully qualified');
      errors.invalid(path, name, 'must be a standard resource for containers');
    }
  }
  validateQuantity(name, text, path, errors);
}

function validateQuantity(name: string, text: string, path: string, errors: FieldErrors): void {
  const nano = nanoOf(text);
  if (nano < 0n) errors.invalid(path, text, 'must be greater than or equal to 0');
  const isWhole = name.includes('/') && !name.startsWith('kubernetes.io/');
  if (isWhole && nano % 1_000_000_000n !== 0n) errors.invalid(path, text, 'must be an integer');
}

/** The quantity of a field that must be more than zero. */
export function validatePositiveQuantity(text: string, path: string, errors: FieldErrors): void {
  if (nanoOf(text) <= 0n) errors.invalid(path, text, 'must be greater than zero');
}

function validateSecurity(context: Fields, path: string, errors: FieldErrors): void {
  for (const field of ['runAsUser', 'runAsGroup']) {
    const id = numberAt(context, field);
    if (id !== undefined) errors.invalidEach(`${path}.${field}`, id, inRange(id, 0, MAX_INT32));
  }
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

/** Checks what a probe or a hook of the life cycle does: exactly one thing. */
export function validateHandler(
  handler: Fields,
  scope: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  const [first, ...others] = HANDLERS.filter((field) => handler[field] !== undefined);
  if (first === undefined) errors.required(path, 'must specify a handler type');
  else validateAction(first, fieldsAt(handler, first), scope, `${path}.${first}`, errors);
  for (const other of others)
    errors.forbidden(`${path}.${other}`, 'may not specify more than 1 handler type');
}

function validateAction(
  type: string,
  action: Fields,
  { gracePeriodSeconds }: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  switch (type) {
    case 'exec':
      if (listAt(action, 'command').length === 0) errors.required(`${path}.command`);
      break;
    case 'httpGet':
      if (stringAt(action, 'path') === '') errors.required(`${path}.path`);
      validatePortReference(action['port'], `${path}.port`, errors);
      if (!['HTTP', 'HTTPS'].includes(stringAt(action, 'scheme')))
        errors.notSupported(`${path}.scheme`, stringAt(action, 'scheme'), ['HTTP', 'HTTPS']);
      for (const header of listAt(action, 'httpHeaders')) {
        const name = stringAt(header, 'name');
        errors.invalidEach(`${path}.httpHeaders`, name, headerName(name));
      }
      break;
    case 'sleep': {
      const seconds = numberAt(action, 'seconds') ?? 0;
      if (gracePeriodSeconds !== undefined && (seconds < 0 || seconds > gracePeriodSeconds))
        errors.invalid(
          path,
          seconds,
          `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`,
        );
      break;
    }
    default:
      validatePortReference(action['port'], `${path}.port`, errors);
  }
}

/** A port by number or by name; missing is number 0. */
export function validatePortReference(port: unknown, path: string, errors: FieldErrors): void {
  if (typeof port === 'string') errors.invalidEach(path, port, portName(port));
  else {
    const number = typeof port === 'number' ? port : 0;
    errors.invalidEach(path, number, portNumber(number));
  }
}

const PROBE_NUMBERS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

export function validateProbe(
  container: Fields,
  name: string,
  scope: ContainerScope,
  path: string,
  errors: FieldErrors,
): void {
  if (container[name] === undefined) return;
  const probe = fieldsAt(container, name);
  const place = `${path}.${name}`;
  validateHandler(probe, scope, place, errors);
  for (const field of PROBE_NUMBERS) errors.nonNegative(`${place}.${field}`, probe[field]);
  const gracePeriod = numberAt(probe, 'terminationGracePeriodSeconds');
  if (gracePeriod !== undefined && gracePeriod <= 0)
    errors.invalid(`${place}.terminationGracePeriodSeconds`, gracePeriod, 'must be greater than 0');
  if (name === 'readinessProbe') {
    if (gracePeriod !== undefined)
      errors.invalid(
        `${place}.terminationGracePeriodSeconds`,
        gracePeriod,
        'must not be set for readinessProbes',
      );
  } else if (numberAt(probe, 'successThreshold') !== 1)
    errors.invalid(`${place}.successThreshold`, probe['successThreshold'], 'must be 1');
}
