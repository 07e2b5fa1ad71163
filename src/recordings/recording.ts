/**
 * The format of a recording: the input of a run, its outputs and how it ended. One table of fields gives the type, the JSON
 * schema and the validation. Replay refuses a recording of another version, since a wrong guess would compare different
 * things.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';

/** The output files of a hook; empty where it wrote nothing. */
export interface RecordedOutputs {
  readonly configValuesPatch: string;
  readonly valuesPatch: string;
  readonly metrics: string;
  readonly kubernetesPatch: string;
  readonly admissionResponse: string;
  readonly conversionResponse: string;
}

/** One run of a hook: what went in, and what came of it. */
export interface Recording {
  readonly version: 1;
  /** RFC 3339. */
  readonly at: string;
  readonly operator: string;
  /** Name of the hook among those of its owner. */
  readonly hook: string;
  /** Empty for a global hook. */
  readonly module: string;
  /** Of the first context. */
  readonly binding: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly contexts: readonly Readonly<Record<string, unknown>>[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly configValues: Readonly<Record<string, unknown>>;
  /** Names of the variables that the hook had. */
  readonly env: readonly string[];
  readonly secrets: 'masked' | 'included';
  readonly durationMs: number;
  /** Absent for a run that failed before they were read. */
  readonly outputs?: RecordedOutputs;
  /** Why the run failed. */
  readonly error?: string;
  readonly exitCode?: number;
  readonly signal?: string;
}

/** How a field of a recording is validated and described in the schema. */
interface Field {
  readonly type: 'string' | 'number' | 'object' | 'array';
  readonly description: string;
  readonly isOptional?: true;
  readonly isOneOf?: readonly unknown[];
}

/** In the order of the schema. */
const FIELDS: Readonly<Record<keyof Recording, Field>> = {
  version: { type: 'number', isOneOf: [1], description: 'Version of the format' },
  at: { type: 'string', description: 'When the run began, as RFC 3339' },
  operator: { type: 'string', description: 'Version of the operator that recorded the run' },
  hook: { type: 'string', description: 'Name of the hook among those of its owner' },
  module: { type: 'string', description: 'Module of the hook; empty for a global hook' },
  binding: { type: 'string', description: 'Binding of the first context' },
  config: { type: 'object', description: 'Configuration of the hook with all defaults' },
  contexts: { type: 'array', description: 'Binding contexts' },
  values: { type: 'object', description: 'Values that the hook was given' },
  configValues: { type: 'object', description: 'Values of the ConfigMap that the hook was given' },
  env: {
    type: 'array',
    description: 'Names of the variables that the hook had; their values are not recorded',
  },
  secrets: {
    type: 'string',
    isOneOf: ['masked', 'included'],
    description: 'Whether secrets are replaced by ***1, ***2 and so on',
  },
  durationMs: { type: 'number', description: 'How long the run took, in milliseconds' },
  outputs: {
    type: 'object',
    isOptional: true,
    description: 'What the hook wrote to its output files; absent if the hook failed',
  },
  error: {
    type: 'string',
    isOptional: true,
    description: 'Why the run failed; with outputs: why they are refused, or could not be applied',
  },
  exitCode: { type: 'number', isOptional: true, description: 'Exit code, if it is not 0' },
  signal: { type: 'string', isOptional: true, description: 'Signal that ended the hook' },
};

/** The variable through which a hook gets the path of each output file. */
const OUTPUTS: Readonly<Record<keyof RecordedOutputs, string>> = {
  configValuesPatch: 'CONFIG_VALUES_JSON_PATCH_PATH',
  valuesPatch: 'VALUES_JSON_PATCH_PATH',
  metrics: 'METRICS_PATH',
  kubernetesPatch: 'KUBERNETES_PATCH_PATH',
  admissionResponse: 'VALIDATING_RESPONSE_PATH, ADMISSION_RESPONSE_PATH',
  conversionResponse: 'CONVERSION_RESPONSE_PATH',
};

/** JSON schema of a recording. */
export const RECORDING_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A recorded run of a hook',
  description: 'A run of a hook, as addon-operator hook record writes it',
  type: 'object',
  additionalProperties: false,
  required: Object.entries(FIELDS).flatMap(([name, { isOptional }]) => (isOptional === true ? [] : [name])),
  properties: Object.fromEntries(
    Object.entries(FIELDS).map(([name, field]) => [
      name,
      name === 'outputs' ? outputsSchema(field) : schemaOf(field),
    ]),
  ),
};

function schemaOf({ type, isOneOf, description }: Field): object {
  return { ...(isOneOf === undefined ? { type } : { enum: isOneOf }), description };
}

function outputsSchema({ description }: Field): object {
  const properties = Object.entries(OUTPUTS).map(([name, variable]) => [
    name,
    { type: 'string', description: `Content of the file of ${variable}` },
  ]);
  const required = Object.keys(OUTPUTS);
  return { type: 'object', description, required, properties: Object.fromEntries(properties) };
}

/**
 * Reads a recording.
 *
 * @throws OperatorError CONFIG_INVALID with the place, what is wrong, and what to do
 */
export function readRecording(source: string, text: string): Recording {
  const wrong = (why: string): OperatorError => new OperatorError('CONFIG_INVALID', `${source}: ${why}`);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw wrong(`it is no complete JSON (${messageOf(error)}): it was cut off or edited; record it again`);
  }
  if (!isObject(value)) throw wrong('it is no recording: a recording is a JSON object');
  const version = value['version'];
  if (version !== FIELDS.version.isOneOf?.[0])
    throw wrong(
      version === undefined
        ? 'it is no recording: version is missing'
        : `it is of version ${JSON.stringify(version)}, and this addon-operator reads version 1: replay it with the addon-operator that recorded it`,
    );
  const problems = Object.entries(FIELDS).flatMap(([name, field]) => problemOf(name, field, value[name]));
  const { outputs } = value;
  if (isObject(outputs))
    problems.push(
      ...Object.keys(OUTPUTS)
        .filter((name) => typeof outputs[name] !== 'string')
        .map((name) => `outputs.${name} must be a string`),
    );
  else if (typeof value['error'] !== 'string') problems.push('outputs or error is missing');
  const contexts = value['contexts'];
  if (Array.isArray(contexts) && !contexts.every(isObject))
    problems.push('each of contexts must be an object');
  if (problems.length > 0) throw wrong(problems.join('; '));
  return value as unknown as Recording;
}

/** The problem of one field, if there is one. */
function problemOf(name: string, { type, isOptional, isOneOf }: Field, value: unknown): readonly string[] {
  if (value === undefined) return isOptional === true ? [] : [`${name} is missing`];
  if (isOneOf !== undefined && !isOneOf.includes(value))
    return [`${name} must be one of ${isOneOf.join(', ')}`];
  const isRight =
    type === 'array' ? Array.isArray(value) : type === 'object' ? isObject(value) : typeof value === type;
  return isRight ? [] : [`${name} must be ${type === 'object' || type === 'array' ? 'an' : 'a'} ${type}`];
}
