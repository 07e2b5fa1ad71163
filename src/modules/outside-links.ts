import { type Dirent, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import { isMissingFile } from '@addon-operator/files/missing-file';

/**
 * A virtual environment of Python links to the interpreter of the system; it holds no hooks and no
 * chart files.
 */
const VIRTUAL_ENVIRONMENT = 'venv';

/**
 * Refuses symbolic links that lead out of a module: through them the daemon would read, run or
 * deploy files that are not part of it. The module's directory itself may be a link. A dangling
 * link is judged by its target path. Directories are read synchronously, like those of hooks, since
 * they are many and small.
 *
 * @throws OperatorError MODULE_INVALID with the link, its target, and the setting that allows it
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

/** An unreadable directory is reported by the part that needs it. */
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
    // The directory of the link is resolved already, so the stored path shows the target.
    if (isMissingFile(cause)) return path === root ? path : resolve(dirname(path), readlinkSync(path));
    throw invalid(module, `the link ${path} cannot be followed: ${messageOf(cause)}; remove it`, cause);
  }
}

function invalid(module: string, why: string, cause?: unknown): OperatorError {
  return new OperatorError('MODULE_INVALID', `module '${module}': ${why}`, { cause });
}
