/**
 * The format of a recording: the input of a run, its outputs and how it ended. One table of fields gives the type, the JSON
 * schema and the validation. Replay refuses a recording of another version, since a wrong guess would compare different
 * things.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isObject, parseJson } from '@addon-operator/json';
import {
  exactObject,
  fields,
  keysOfShapes,
  listOf,
  mapping,
  number,
  problemAt,
  type Shape,
  type Shaped,
  text,
  word,
} from '@addon-operator/json/shape';

/** The output files of a hook; empty where it wrote nothing. */
const output = (variable: string): Shape<string> =>
  text(`Content of the file of ${variable}; empty if the hook wrote nothing`);

const outputs = exactObject(
  {
    configValuesPatch: output('CONFIG_VALUES_JSON_PATCH_PATH'),
    valuesPatch: output('VALUES_JSON_PATCH_PATH'),
    metrics: output('METRICS_PATH'),
    kubernetesPatch: output('KUBERNETES_PATCH_PATH'),
    admissionResponse: output('VALIDATING_RESPONSE_PATH, ADMISSION_RESPONSE_PATH'),
    conversionResponse: output('CONVERSION_RESPONSE_PATH'),
  },
  'What the hook wrote to its output files; absent if the hook failed',
);

const RUN = {
  version: word('Version of the format', [1]),
  at: text('When the run began, as RFC 3339'),
  operator: text('Version of the operator that recorded the run'),
  hook: text('Name of the hook among those of its owner'),
  module: text('Module of the hook; empty for a global hook'),
  binding: text('Binding of the first context'),
  config: mapping('Configuration of the hook with all defaults'),
  contexts: listOf(mapping('A binding context'), 'Binding contexts'),
  values: mapping('Values that the hook was given'),
  configValues: mapping('Values of the ConfigMap that the hook was given'),
  env: listOf(text('A name'), 'Names of the variables that the hook had; their values are not recorded'),
  secrets: word('Whether secrets are replaced by ***1, ***2 and so on', ['masked', 'included']),
  durationMs: number('How long the run took, in milliseconds'),
};

const RECORDING = fields(
  {
    ...RUN,
    outputs,
    error: text('Why the run failed; with outputs: why they are refused, or could not be applied'),
    exitCode: number('Exit code, if it is not 0'),
    signal: text('Signal that ended the hook'),
  },
  { required: keysOfShapes(RUN) },
  'A run of a hook, as addon-operator hook record writes it',
);

/** One run of a hook: what went in, and what came of it. */
export type Recording = Shaped<typeof RECORDING>;

/** Name of the hook, with `<module>/` in front of that of a module. */
export function fullNameOf({ hook, module }: Pick<Recording, 'hook' | 'module'>): string {
  return module === '' ? hook : `${module}/${hook}`;
}

/** How a field of a recording is validated and described in the schema. */
export type RecordedOutputs = Shaped<typeof outputs>;

/** JSON schema of a recording. */
export const RECORDING_SCHEMA: Readonly<Record<string, unknown>> = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A recorded run of a hook',
  ...RECORDING.schema,
};

/**
 * Reads a recording.
 *
 * @throws OperatorError CONFIG_INVALID with the place, what is wrong, and what to do
 */
export function readRecording(source: string, content: string): Recording {
  const wrong = (why: string): OperatorError => new OperatorError('CONFIG_INVALID', `${source}: ${why}`);
  let value: unknown;
  try {
    value = parseJson(content);
  } catch (error) {
    throw wrong(`it is no complete JSON (${messageOf(error)}): it was cut off or edited; record it again`);
  }
  if (!isObject(value)) throw wrong('it is no recording: a recording is a JSON object');
  const version = value['version'];
  if (version === undefined) throw wrong('it is no recording: version is missing');
  if (version !== 1)
    throw wrong(
      `it is of version ${JSON.stringify(version)}, and this addon-operator reads version 1: replay it with the addon-operator that recorded it`,
    );
  const problems: string[] = [];
  RECORDING.check(value, [], (path, message) => problems.push(problemAt(path, message)));
  if (value['outputs'] === undefined && value['error'] === undefined)
    problems.push('outputs or error is missing');
  if (problems.length > 0) throw wrong(problems.join('; '));
  return value as Recording;
}
