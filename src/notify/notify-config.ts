/** The file of `--notify-config`: its form, and all of its mistakes. Credentials are references, never in the file. */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import {
  fields,
  listOf,
  problemAt,
  type Shape,
  type Shaped,
  text,
  textLike,
  word,
} from '@addon-operator/json/shape';
import { parseYaml } from '@addon-operator/yaml';
import type { ModuleStatus } from '../status/module-explanation.ts';
import { isProblem, PROBLEMS } from './notices.ts';

const STATES: readonly ModuleStatus[] = [
  ...PROBLEMS,
  'ready',
  'starting',
  'paused',
  'disabled',
  'deleting',
  'undecided',
];

/** Where a credential is read from. */
const REFERENCE = fields(
  { file: text('Path of a file with nothing but the value.'), env: text('Name of an environment variable.') },
  { oneOf: ['file', 'env'] },
);
/** Of addresses, also of those that are read from elsewhere. */
export const URL_FORM = {
  pattern: /^https?:\/\/[^\s@#]+$/u,
  name: 'a URL with http or https, without a user',
};
const URL_TEXT = textLike('Address of the receiver.', URL_FORM);
const SINK = fields(
  {
    name: textLike('Name in logs and metrics.', {
      pattern: /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u,
      name: 'up to 63 lower case letters, digits and hyphens',
    }),
    webhook: fields(
      { url: URL_TEXT, urlFrom: REFERENCE, secretFrom: REFERENCE },
      { oneOf: ['url', 'urlFrom'] },
    ),
    slack: fields({ urlFrom: REFERENCE }, { required: ['urlFrom'] }),
    alertmanager: fields({ url: URL_TEXT, urlFrom: REFERENCE }, { oneOf: ['url', 'urlFrom'] }),
    modules: listOf(text('A pattern: * and ?, a leading ! excludes.'), 'Modules; default: all.', 1),
    states: listOf(word('A state.', STATES), 'States that are sent; default: all problems.', 1),
  },
  { required: ['name'], oneOf: ['webhook', 'slack', 'alertmanager'] },
);
const CONFIG = fields({ sinks: listOf(SINK, 'Receivers of notices.', 1) }, { required: ['sinks'] });

export type SecretSource = Shaped<typeof REFERENCE>;
export type SinkConfig = Shaped<typeof SINK>;

/**
 * Reads the file's content.
 *
 * @param path for messages
 * @throws OperatorError CONFIG_INVALID with every mistake, one a line
 */
export function parseNotifyConfig(content: string, path: string): readonly SinkConfig[] {
  const problems: string[] = [];
  const value = parsedYaml(content, path);
  (CONFIG as Shape).check(value, [], (at, message) => problems.push(problemAt(at, message)));
  if (problems.length > 0) throw invalid(path, problems);
  const { sinks } = value as Shaped<typeof CONFIG>;
  const names = sinks.map(({ name }) => name);
  for (const [index, { name, alertmanager, states = [] }] of sinks.entries()) {
    if (names.indexOf(name) !== index) problems.push(`sinks[${index}].name: ${name} is used twice`);
    const other = states.find((state) => !isProblem(state));
    if (alertmanager !== undefined && other !== undefined)
      problems.push(`sinks[${index}].states: ${other} is no problem, and an Alertmanager has only those`);
  }
  if (problems.length > 0) throw invalid(path, problems);
  return sinks;
}

function parsedYaml(content: string, path: string): unknown {
  try {
    return parseYaml(content, { source: path, booleans: 'yaml-1.2' }).value;
  } catch (error) {
    throw new OperatorError('CONFIG_INVALID', `--notify-config: ${messageOf(error)}`, { cause: error });
  }
}

/** An error that names the file before each of these mistakes. */
export function invalid(path: string, problems: readonly string[]): OperatorError {
  const lines = problems.map((problem) => `--notify-config: ${path}: ${problem}`);
  return new OperatorError('CONFIG_INVALID', lines.join('\n'));
}
