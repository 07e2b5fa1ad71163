import { scalarText } from './json-access.ts';
import { readFields } from './protobuf-reader.ts';
import { badRequest, unsupportedMediaType } from './status-error.ts';

const MAGIC = 'k8s\0';
const ACCEPTED = ['application/json', 'application/yaml'];

type FieldType =
  | 'string'
  | 'base64'
  | 'bool'
  | 'int'
  | { readonly message: Message }
  | { readonly map: 'string' | 'base64' }
  | { readonly list: FieldType };

/** Fields of a message by number: JSON name and type. */
type Message = Readonly<Record<number, readonly [name: string, type: FieldType]>>;

const OWNER_REFERENCE: Message = {
  1: ['kind', 'string'],
  3: ['name', 'string'],
  4: ['uid', 'string'],
  5: ['apiVersion', 'string'],
  6: ['controller', 'bool'],
  7: ['blockOwnerDeletion', 'bool'],
};

/** Fields that only the server sets (selfLink, generation, times, managedFields) are left out: writes ignore them. */
const OBJECT_META: Message = {
  1: ['name', 'string'],
  2: ['generateName', 'string'],
  3: ['namespace', 'string'],
  5: ['uid', 'string'],
  6: ['resourceVersion', 'string'],
  11: ['labels', { map: 'string' }],
  12: ['annotations', { map: 'string' }],
  13: ['ownerReferences', { list: { message: OWNER_REFERENCE } }],
  14: ['finalizers', { list: 'string' }],
};

const METADATA: readonly [string, FieldType] = ['metadata', { message: OBJECT_META }];

const PRECONDITIONS: Message = { 1: ['uid', 'string'], 2: ['resourceVersion', 'string'] };

const RESOURCE_ATTRIBUTES: Message = {
  1: ['namespace', 'string'],
  2: ['verb', 'string'],
  3: ['group', 'string'],
  4: ['version', 'string'],
  5: ['resource', 'string'],
  6: ['subresource', 'string'],
  7: ['name', 'string'],
};

const NON_RESOURCE_ATTRIBUTES: Message = { 1: ['path', 'string'], 2: ['verb', 'string'] };

/** Kinds that the recorded clients send as protobuf. */
const MESSAGES: Readonly<Record<string, Message>> = {
  Secret: {
    1: METADATA,
    2: ['data', { map: 'base64' }],
    3: ['type', 'string'],
    4: ['stringData', { map: 'string' }],
    5: ['immutable', 'bool'],
  },
  ConfigMap: {
    1: METADATA,
    2: ['data', { map: 'string' }],
    3: ['binaryData', { map: 'base64' }],
    4: ['immutable', 'bool'],
  },
  Namespace: { 1: METADATA },
  ServiceAccount: { 1: METADATA, 4: ['automountServiceAccountToken', 'bool'] },
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'int'],
    2: ['preconditions', { message: PRECONDITIONS }],
    3: ['orphanDependents', 'bool'],
    4: ['propagationPolicy', 'string'],
    5: ['dryRun', { list: 'string' }],
  },
  SelfSubjectReview: { 1: METADATA },
  SelfSubjectRulesReview: { 1: METADATA, 2: ['spec', { message: { 1: ['namespace', 'string'] } }] },
  SelfSubjectAccessReview: {
    1: METADATA,
    2: [
      'spec',
      {
        message: {
          1: ['resourceAttributes', { message: RESOURCE_ATTRIBUTES }],
          2: ['nonResourceAttributes', { message: NON_RESOURCE_ATTRIBUTES }],
        },
      },
    ],
  },
};

/**
 * Decodes a body of type `application/vnd.kubernetes.protobuf` to the JSON object that it encodes.
 *
 * @throws StatusError 415 for a kind that is not decoded, 400 for broken bytes
 */
export function decodeProtobufBody(bytes: Uint8Array): Record<string, unknown> {
  if (textOf(bytes.subarray(0, MAGIC.length)) !== MAGIC) throw badRequest('protobuf body without its prefix');
  try {
    const envelope = decodeMessage(bytes.subarray(MAGIC.length), {
      1: ['type', { message: { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] } }],
      2: ['raw', 'base64'],
    });
    const type = envelope['type'];
    const typeMeta = typeof type === 'object' && type !== null ? { ...type } : {};
    const kind = 'kind' in typeMeta && typeof typeMeta.kind === 'string' ? typeMeta.kind : '';
    const message = MESSAGES[kind];
    if (message === undefined) throw unsupportedMediaType(ACCEPTED);
    const raw =
      typeof envelope['raw'] === 'string' ? Buffer.from(envelope['raw'], 'base64') : new Uint8Array();
    return { ...typeMeta, ...decodeMessage(raw, message) };
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(`broken protobuf body: ${error.message}`);
    throw error;
  }
}

function decodeMessage(bytes: Uint8Array, message: Message): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { number, value } of readFields(bytes)) {
    const [name, type] = message[number] ?? [];
    if (name === undefined || type === undefined) continue;
    if (typeof type === 'object' && 'list' in type) {
      const items = object[name];
      object[name] = [...(Array.isArray(items) ? items : []), decodeValue(value, type.list)];
    } else if (typeof type === 'object' && 'map' in type) {
      const entries = object[name];
      object[name] = { ...(typeof entries === 'object' ? entries : {}), ...decodeEntry(value, type.map) };
    } else {
      const decoded = decodeValue(value, type);
      // Go writes every string field, the empty ones too.
      if (decoded !== '') object[name] = decoded;
    }
  }
  return object;
}

function decodeEntry(value: bigint | Uint8Array, type: FieldType): Record<string, unknown> {
  const entry = decodeMessage(bytesOf(value), { 1: ['key', 'string'], 2: ['value', type] });
  return { [scalarText(entry['key'])]: entry['value'] ?? '' };
}

function decodeValue(value: bigint | Uint8Array, type: FieldType): unknown {
  switch (type) {
    case 'string':
      return textOf(bytesOf(value));
    case 'base64':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'bool':
      return value === 1n;
    case 'int':
      return Number(value);
    default:
      return typeof type === 'object' && 'message' in type
        ? decodeMessage(bytesOf(value), type.message)
        : null;
  }
}

function bytesOf(value: bigint | Uint8Array): Uint8Array {
  if (typeof value === 'bigint') throw new RangeError('number in the place of bytes');
  return value;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
