import { OperatorError } from '@addon-operator/base/errors';
import { asModuleName, GLOBAL_SECTION, keyOfName, type ModuleName, nameOfKey } from '../values/module-key.ts';

/** The facts in the name of a module's directory. */
interface DirectoryName {
  readonly name: ModuleName;
  /** Undefined without a number, or for one above 2^31-1. */
  readonly order: number | undefined;
}

const NUMBERED = /^(?:(?<order>[0-9]+)-)?(?<name>.+)$/su;
const MAX_ORDER = 2 ** 31 - 1;
/**
 * Names become names of releases, files and objects, so they contain nothing with a meaning
 * elsewhere.
 */
const PLAIN_NAME = /^[a-z0-9-]+$/;
/** The limit of object names in Kubernetes. */
const MAX_NAME_CHARACTERS = 253;

/**
 * Parses a directory name such as `001-nginx`.
 *
 * @throws OperatorError MODULE_INVALID if the name is not in kebab-case, cannot be restored from
 *   its camelCase key, is `global`, or has other characters
 */
export function parseDirectoryName(directoryName: string): DirectoryName {
  const groups = NUMBERED.exec(directoryName)?.groups;
  const order = Number(groups?.['order'] ?? Number.NaN);
  return {
    name: parseModuleName(groups?.['name'] ?? directoryName),
    order: order <= MAX_ORDER ? order : undefined,
  };
}

/** @throws OperatorError MODULE_INVALID if the string cannot be the name of a module */
export function parseModuleName(value: string): ModuleName {
  const name = asModuleName(value);
  if (name !== undefined) return inPlainCharacters(name);
  if (value === GLOBAL_SECTION) {
    throw new OperatorError(
      'MODULE_INVALID',
      `'${GLOBAL_SECTION}' cannot be the name of a module: that key holds the values of all modules; rename the directory`,
    );
  }
  const restored = nameOfKey(keyOfName(value));
  const advice = restored === '' ? '' : `: consider renaming to '${restored}'`;
  throw new OperatorError(
    'MODULE_INVALID',
    `'${value}' name should be in kebab-case and be restorable from camelCase${advice}`,
  );
}

function inPlainCharacters(name: ModuleName): ModuleName {
  if (name.length <= MAX_NAME_CHARACTERS && PLAIN_NAME.test(name)) return name;
  const shown = JSON.stringify(name.slice(0, MAX_NAME_CHARACTERS));
  throw new OperatorError(
    'MODULE_INVALID',
    `${shown} cannot be the name of a module: use small letters a to z, digits and "-", at most ${MAX_NAME_CHARACTERS} characters; rename the directory`,
  );
}
