/**
 * The first step of the parser: text to a plain document, with limits, and the tools that both versions share. A hook is
 * an untrusted program, so the size is bounded before and after aliases are expanded.
 */

import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf, isObject } from '@addon-operator/json';
import { withoutByteOrderMark } from '@addon-operator/strings/byte-order-mark';
import { describeYamlSize, MAX_YAML_MARKS, yamlSizeProblem } from '@addon-operator/yaml';
import { readFlowAtAnyColumn } from '@addon-operator/yaml/yaml-flow-columns';
import type { ErrorObject } from 'ajv';
import { loadAll } from 'js-yaml';
import type { SnapshotSource } from './binding-checks.ts';
import { ORDER_SECTIONS } from './binding-kinds.ts';
import type { ConfigVersion, HookConfig } from './hook-config.ts';

/** The output of a hook, not yet checked against a schema. */
type ConfigDocument = Readonly<Record<string, unknown>>;

/**
 * Reads YAML or JSON; of several YAML documents the first counts, and of duplicate keys the last. The size is bounded as
 * that of values, since the event loop waits for the parser.
 *
 * @throws OperatorError HOOK_CONFIG_INVALID when the text is no YAML, or no mapping, or too large
 */
export function parseConfigDocument(text: string): ConfigDocument {
  const first = firstDocument(withoutByteOrderMark(text));
  const size = yamlSizeProblem(first);
  if (size !== undefined) throw unreadable(describeYamlSize(size, first));
  const document = load(first);
  if (!isWithinNodes(document, MAX_YAML_MARKS)) throw unreadable('too large once aliases are written out');
  if (!isObject(document)) throw unreadable('a mapping is expected at the top level');
  return document;
}

function load(text: string): unknown {
  try {
    // Duplicate keys are accepted in the output of a hook, as in its JSON form.
    return readFlowAtAnyColumn(text, (parsed) => loadAll(parsed, { json: true })[0] ?? {});
  } catch (error) {
    throw unreadable(messageOf(error), error);
  }
}

/** Counts an aliased node each time it is referenced: validation and serialization visit it as often. */
function isWithinNodes(document: unknown, maxNodes: number): boolean {
  const pending = [document];
  for (let nodes = 0; nodes < pending.length; nodes += 1) {
    const node = pending[nodes];
    if (typeof node !== 'object' || node === null) continue;
    for (const child of Object.values(node)) pending.push(child);
    if (pending.length > maxNodes) return false;
  }
  return true;
}

function unreadable(reason: string, cause?: unknown): OperatorError {
  return new OperatorError('HOOK_CONFIG_INVALID', `config unmarshal: ${reason}`, { cause });
}

/** Drops the documents after the first: they need not even be YAML. */
function firstDocument(text: string): string {
  // Comments and directives before the first `---` are no document.
  const isBlank = (part: string): boolean => part.split('\n').every((line) => /^\s*([#%]|$)/.test(line));
  for (const { index } of text.matchAll(/^---(?=\s|$)/gm))
    if (!isBlank(text.slice(0, index).replace(/^---/m, ''))) return text.slice(0, index);
  return text;
}

/**
 * The format a configuration is written in.
 *
 * @throws OperatorError HOOK_CONFIG_INVALID when it names none that exists
 */
export function configVersionOf(document: ConfigDocument): ConfigVersion {
  const version = document['configVersion'];
  // The literal v0 is refused by the schema of v0, which has no such property.
  if (version === undefined || version === 'v0') return 'v0';
  if (version === 'v1') return 'v1';
  if (version === null) throw invalidConfig(["config version: missing 'configVersion' value"]);
  if (typeof version !== 'string')
    throw invalidConfig(["config version: string value is expected for key 'configVersion'"]);
  throw invalidConfig([`config version: 'configVersion' value '${version}' is unsupported`]);
}

/** One error for everything that is wrong with a configuration. */
export function invalidConfig(problems: readonly string[]): OperatorError {
  const list = problems.map((problem) => ` * ${problem}`).join('\n');
  return new OperatorError('HOOK_CONFIG_INVALID', `${problems.length} error(s) occurred:\n${list}`);
}

/** The order numbers in a checked configuration. */
export function lifecycleOrders(document: ConfigDocument): HookConfig['lifecycle'] {
  return Object.fromEntries(
    ORDER_SECTIONS.flatMap((name) => {
      const order = document[name];
      return typeof order === 'number' ? [[name, order]] : [];
    }),
  );
}

type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never;

/**
 * The parts of a configuration in which the schema found nothing wrong: further checks of them are worth while even if
 * other parts are broken, so that a hook's author sees all problems at once. `Raw` is the shape the schema guarantees.
 */
export class ValidParts<Raw> {
  readonly #document: ConfigDocument;
  readonly #errors: readonly ErrorObject[];

  constructor(document: ConfigDocument, errors: readonly ErrorObject[]) {
    this.#document = document;
    this.#errors = errors;
  }

  /** The items of a list that match the schema, each with its position. */
  items<Key extends keyof Raw & string>(key: Key): readonly (readonly [number, ItemOf<Raw[Key]>])[] {
    const list = this.#document[key];
    if (!Array.isArray(list)) return [];
    return list.flatMap((item: ItemOf<Raw[Key]>, index) =>
      this.#isValid(`/${key}/${index}`) ? [[index, item]] : [],
    );
  }

  /** A property that matches the schema. */
  property<Key extends keyof Raw & string>(key: Key): Raw[Key] | undefined {
    return this.#isValid(`/${key}`) ? (this.#document[key] as Raw[Key] | undefined) : undefined;
  }

  /** All kubernetes bindings by name and group, broken ones included: others may rightly refer to them. */
  get snapshotSources(): readonly SnapshotSource[] {
    const list = this.#document['kubernetes'];
    if (!Array.isArray(list)) return [];
    return list.map((item: unknown) => {
      const { name, group } = fieldsOf(item);
      return {
        ...(typeof name === 'string' ? { name } : {}),
        ...(typeof group === 'string' ? { group } : {}),
      };
    });
  }

  #isValid(path: string): boolean {
    return !this.#errors.some(
      ({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`),
    );
  }
}
