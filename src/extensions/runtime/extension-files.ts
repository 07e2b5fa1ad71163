import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { isMissingFile } from '@addon-operator/files/missing-file';
import { isScriptName } from '../../hooks/find-hooks.ts';

const TEST_OR_TYPES = /\.(?:test|spec|d)\.[cm]?[jt]s$/;

/**
 * Whether a file of this name may hold extensions: a script that is neither a test nor a
 * declaration file.
 */
export function isExtensionFile(name: string): boolean {
  return isScriptName(name) && !TEST_OR_TYPES.test(name);
}

/**
 * All files below a directory, sorted, except hidden ones and packages; empty without the
 * directory.
 *
 * @throws OperatorError EXTENSION_INVALID when it cannot be read
 */
export async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await list(directory);
  const files: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path)));
    else files.push(path);
  }
  return files.toSorted();
}

async function list(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (cause) {
    if (isMissingFile(cause)) return [];
    throw unreadable(directory, cause);
  }
}

/** @throws OperatorError EXTENSION_INVALID */
export async function readExtensionFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): OperatorError {
  return new OperatorError('EXTENSION_INVALID', `Cannot read extensions at ${path}: ${messageOf(cause)}`, {
    cause,
  });
}

/**
 * Warns of a configured directory that does not exist: otherwise the missing extensions would go
 * unnoticed.
 */
export function warnOfMissingDirectory(directory: string, flag: string, log: Logger): void {
  if (directory !== '' && !existsSync(directory))
    log.warn({ flag, directory }, 'the directory does not exist; nothing is loaded');
}

/** The lists end at a brace, so that the expression scans no part of a file twice. */
const DEFAULT_EXPORT =
  /^\s*(?:export\s+default\b|export\s*\{[^{}]*\bas\s+default\b|module\.exports\b|exports\.default\b)/m;
/** Scripts of any kind, also with an extension that makes them no extension files. */
const SCRIPT = /\.[cm]?[jt]sx?$/;
const ANY_TEST_OR_TYPES = /\.(?:test|spec|d)\.[^.]+$/;
const CALLS = { defineExtensions: /\bdefineExtensions\s*\(/, defineFlowHooks: /\bdefineFlowHooks\s*\(/ };

/** Whether a file of this name may be a script with a definition that is not loaded from there. */
export function mayExportDefinition(name: string): boolean {
  return SCRIPT.test(name) && !ANY_TEST_OR_TYPES.test(name);
}

/**
 * Whether the source of a script probably exports the result of this function. A guess for a
 * warning: nothing is parsed.
 */
export function exportsDefinition(source: string, definer: keyof typeof CALLS): boolean {
  return CALLS[definer].test(source) && DEFAULT_EXPORT.test(source);
}
