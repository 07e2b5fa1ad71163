import { isScriptName } from '../../hooks/in-process/is-in-process-hook.ts';

const TEST_OR_TYPES = /\.(?:test|spec|d)\.[cm]?[jt]s$/;

/** Whether a file of this name may hold extensions: a script that is neither a test nor mere types. */
export function isExtensionFile(name: string): boolean {
  return isScriptName(name) && !TEST_OR_TYPES.test(name);
}
