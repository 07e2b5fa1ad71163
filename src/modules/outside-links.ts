import { type Dirent, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';

/** A virtual environment of Python links to the interpreter of the system; nothing in it is used as a hook or a file. */
const VIRTUAL_ENVIRONMENT = 'venv';

/**
 * Refuses symbolic links in a module that lead out of it: they would have the daemon read, run or deploy what is not part
 * of the module. The directory of the module may itself be a link. A link that leads to nothing is judged by its text.
 *
 * Directories are read synchronously, as for hooks: they are many and small.
 *
 * @throws OperatorError MODULE_INVALID naming the link, where it leads, and the setting that allows it
 */
export function refuseOutsideLinks(module: string, modulePath: string): void {
  const root = realOf(modulePath, modulePath, module);
  for (const link of linksBelow(root)) {
    const target = realOf(link, root, module);
    if (target === root || target.startsWith(root + sep)) continue;
    throw invalid(
      module,
      `the link ${link} has a target outside of the module, ${target}: copy the target, or set --allow-links-outside (ADDON_OPERATOR_ALLOW_LINKS_OUTSIDE)`,
    );
  }
}

function* linksBelow(directory: string): Generator<string> {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) yield path;
    else if (entry.isDirectory() && entry.name !== VIRTUAL_ENVIRONMENT) yield* linksBelow(path);
  }
}

/** A directory that cannot be read is reported by what needs it. */
function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function realOf(path: string, root: string, module: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    // The directory of the link is real already, so its text says where it would lead.
    if (isMissingFile(cause)) return path === root ? path : resolve(dirname(path), readlinkSync(path));
    throw invalid(module, `the link ${path} cannot be followed: ${messageOf(cause)}; remove it`, cause);
  }
}

function invalid(module: string, why: string, cause?: unknown): OperatorError {
  return new OperatorError('MODULE_INVALID', `module '${module}': ${why}`, { cause });
}
