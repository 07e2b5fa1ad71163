import { OperatorError } from '@addon-operator/base/errors';
import { asModuleName, GLOBAL_SECTION, keyOfName, type ModuleName, nameOfKey } from '../values/module-key.ts';

/** What the name of a module's directory says. */
interface DirectoryName {
  readonly name: ModuleName;
  /** Undefined when there is no number, or one above 2^31-1. */
  readonly order: number | undefined;
}

const NUMBERED = /^(?:(?<order>[0-9]+)-)?(?<name>.+)$/su;
const MAX_ORDER = 2 ** 31 - 1;
/** Names become those of releases, files and objects: nothing that another program could read as more than a name. */
const PLAIN_NAME = /^[a-z0-9-]+$/;
/** What the name of an object may have in Kubernetes. */
const MAX_NAME_CHARACTERS = 253;

/**
 * Reads a directory name such as `001-nginx`.
 *
 * @throws OperatorError MODULE_INVALID when the name is not in kebab-case, cannot be restored from its camelCase key,
 *   is `global`, or has characters that are not plain
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
  if (name !== undefined) return inPlainCharacters(name);
  if (text === GLOBAL_SECTION) {
    throw new OperatorError(
      'MODULE_INVALID',
      `'${GLOBAL_SECTION}' cannot be the name of a module: that key holds the values of all modules; rename the directory`,
    );
  }
  const restored = nameOfKey(keyOfName(text));
  const advice = restored === '' ? '' : `: consider renaming to '${restored}'`;
  throw new OperatorError(
    'MODULE_INVALID',
    `'${text}' name should be in kebab-case and be restorable from camelCase${advice}`,
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
