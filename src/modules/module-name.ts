import { OperatorError } from '../lib/errors.ts';
import { asModuleName, GLOBAL_SECTION, keyOfName, type ModuleName, nameOfKey } from '../values/module-key.ts';

/** What the name of a module's directory says. */
export interface DirectoryName {
  readonly name: ModuleName;
  /** Undefined when there is no number, or one above 2^31-1. */
  readonly order: number | undefined;
}

const NUMBERED = /^(?:(?<order>[0-9]+)-)?(?<name>.+)$/su;
const MAX_ORDER = 2 ** 31 - 1;

/**
 * Reads a directory name such as `001-nginx`.
 *
 * @throws OperatorError MODULE_INVALID when the name is not in kebab-case, cannot be restored from its camelCase key,
 *   or is `global`
 */
export function parseDirectoryName(directoryName: string): DirectoryName {
  const groups = NUMBERED.exec(directoryName)?.groups;
  const order = Number(groups?.['order'] ?? Number.NaN);
  return {
    name: parseModuleName(groups?.['name'] ?? directoryName),
    order: order <= MAX_ORDER ? order : undefined,
  };
}

/** @throws OperatorError MODULE_INVALID when the text cannot be the name of a module */
export function parseModuleName(text: string): ModuleName {
  const name = asModuleName(text);
  if (name !== undefined) return name;
  if (text === GLOBAL_SECTION) {
    throw new OperatorError(
      'MODULE_INVALID',
      `'${GLOBAL_SECTION}' cannot be the name of a module: values of all modules stand under that key, rename the directory`,
    );
  }
  const restored = nameOfKey(keyOfName(text));
  const advice = restored === '' ? '' : `: consider renaming to '${restored}'`;
  throw new OperatorError(
    'MODULE_INVALID',
    `'${text}' name should be in kebab-case and be restorable from camelCase${advice}`,
  );
}
