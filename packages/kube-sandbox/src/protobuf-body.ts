import { builtInType, fieldsOfMessage, type StructType, type ValueType } from './built-in-types.ts';
import { scalarString, stringAt } from './json-access.ts';
import { badRequest, unsupportedMediaType } from './status-error.ts';

const MAGIC = 'k8s\0';
const ACCEPTED = ['application/json', 'application/yaml'];

/**
 * Decodes a body of type `application/vnd.kubernetes.protobuf` to the JSON object that it encodes.
 *
 * @throws StatusError 415 for a kind that is not built in, 400 for broken bytes
 */
export function decodeProtobufBody(bytes: Uint8Array): Record<string, unknown> {
  if (stringOf(bytes.subarray(0, MAGIC.length)) !== MAGIC)
    throw badRequest('protobuf body without its prefix');
  try {
    const envelope = parts(bytes.subarray(MAGIC.length));
    const type = parts(envelope[1]);
    const apiVersion = stringOf(type[1]);
    const kind = stringOf(type[2]);
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const struct = builtInType({ group, version, kind });
    if (struct === undefined) throw unsupportedMediaType(ACCEPTED);
    return { apiVersion, kind, ...decodeMessage(bytesOf(envelope[2]), struct, struct.schemaName) };
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(`broken protobuf body: ${error.message}`);
    throw error;
  }
}

type Value = bigint | Uint8Array;

/** @param messageName of the message whose fields belong to `struct`: its own, or that of an embedded type */
function decodeMessage(bytes: Uint8Array, struct: StructType, messageName: string): Record<string, unknown> {
  const names = fieldsOfMessage(messageName);
  const object: Record<string, unknown> = {};
  for (const { number, value } of readFields(bytes)) {
    const declared = stringAt(names, String(number));
    const name = declared.replace('*', '');
    const type = struct.fields.get(name);
    if (declared.startsWith('='))
      Object.assign(object, decodeMessage(bytesOf(value), struct, declared.slice(1)));
    else if (type?.type === 'list') {
      const items = object[name];
      object[name] = [...(Array.isArray(items) ? items : []), decodeValue(value, type.item)];
    } else if (type?.type === 'map') {
      const { 1: key, 2: content = new Uint8Array() } = parts(value);
      object[name] = { ...Object(object[name]), [stringOf(key)]: decodeValue(content, type.item) };
    } else if (type !== undefined) {
      const decoded = decodeValue(value, type);
      // Go writes every field that is no pointer, the empty ones too.
      const isZero = decoded === '' || decoded === 0 || decoded === false;
      if (decoded !== undefined && (declared.startsWith('*') || !isZero)) object[name] = decoded;
    }
  }
  return object;
}

/** The fields of a message by number. */
function parts(message: Value | undefined): Readonly<Record<number, Value>> {
  return Object.fromEntries([...readFields(bytesOf(message))].map(({ number, value }) => [number, value]));
}

function decodeValue(value: Value, type: ValueType): unknown {
  switch (type.type) {
    case 'string':
      return stringOf(value);
    case 'bytes':
      return Buffer.from(bytesOf(value)).toString('base64');
    case 'bool':
      return value === 1n;
    case 'int32':
    case 'int64':
      return Number(value);
    case 'float64':
      return Buffer.from(bytesOf(value)).readDoubleLE();
    case 'struct':
      return decodeMessage(bytesOf(value), type, type.schemaName);
    case 'quantity':
      return stringOf(parts(value)[1]);
    case 'intOrString': {
      const { 1: kind, 2: number, 3: text } = parts(value);
      return kind === 1n ? stringOf(text) : Number(number ?? 0);
    }
    case 'time':
    case 'microTime':
      return decodeTime(value, type.type === 'microTime');
    case 'any':
      return JSON.parse(stringOf(parts(value)[1]) || 'null');
    case 'list':
    case 'map':
      throw new RangeError(`${type.goType} in a list`);
  }
}

/** A time; undefined for the zero one. */
function decodeTime(value: Value, isMicro: boolean): string | undefined {
  const { 1: seconds, 2: nanos = 0n } = parts(value);
  if (seconds === undefined) return undefined;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return isMicro ? `${text}.${scalarString(Number(nanos) / 1000).padStart(6, '0')}Z` : `${text}Z`;
}

function bytesOf(value: Value | undefined): Uint8Array {
  if (typeof value === 'bigint') throw new RangeError('number in the place of bytes');
  return value ?? new Uint8Array();
}

function stringOf(value: Value | undefined): string {
  return Buffer.from(bytesOf(value)).toString('utf8');
}

/** One field of a protobuf message: a number for varints, bytes for everything with a length. */
interface ProtobufField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/**
 * Reads the fields of one message in order; fixed 32 and 64 bit fields are given as their raw bytes.
 *
 * @throws RangeError for bytes that are no message
 */
function* readFields(bytes: Uint8Array): Generator<ProtobufField> {
  let offset = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset];
      if (byte === undefined) throw new RangeError('truncated varint');
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new RangeError('varint too long');
  };
  const readBytes = (length: number): Uint8Array => {
    if (length < 0 || offset + length > bytes.length) throw new RangeError('truncated field');
    const value = bytes.subarray(offset, offset + length);
    offset += length;
    return value;
  };
  while (offset < bytes.length) {
    const tag = Number(readVarint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: readVarint() };
        break;
      case 1:
        yield { number, value: readBytes(8) };
        break;
      case 2:
        yield { number, value: readBytes(Number(readVarint())) };
        break;
      case 5:
        yield { number, value: readBytes(4) };
        break;
      default:
        throw new RangeError(`unknown wire type ${tag & 7}`);
    }
  }
}
