import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { errorFields, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { fieldsOf, type Json, stringOf } from '@addon-operator/json';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import { EXTENSIONS, POINT_METHODS, type PointMethod } from '@addon-operator/sdk/host';
import {
  exportsDefinition,
  filesBelow,
  isExtensionFile,
  mayExportDefinition,
  readExtensionFile,
} from '../runtime/extension-files.ts';
import type { Extensions, LoadedExtension } from '../runtime/extension-runtime.ts';
import type { HostMethod, PointHost } from './point.ts';
import { unservedKindProblem, unusedMethodProblems } from './unused-names.ts';

/** The name of the directory, in modules and operator-wide. */
const DIRECTORY = 'customizations';
const SUFFIX = 'Extensions';
/** Methods that may return nothing. */
const WITHOUT_RESULT: readonly PointMethod[] = ['delete', 'onSuccess'];

/** The hosts for the objects of one module. */
export interface HostSet {
  /**
   * Covers all files that can affect `modifyManifest`; empty when no host has it. A new digest
   * makes helm run again.
   */
  readonly digest: string;
  /** Whether any host extends a point. */
  has(method: PointMethod): boolean;
  /** Hosts of a kind, in any version: that of the module, then the operator-wide one. */
  find(apiVersion: string, kind: string): readonly PointHost[];
}

interface Scope {
  readonly digest: string;
  readonly hosts: ReadonlyMap<string, PointHost>;
}

const NO_HOSTS: Scope = { digest: '', hosts: new Map() };

export interface CustomizationsOptions {
  /** The directory of hosts for all modules. */
  readonly commonDir: string;
  readonly extensions: Extensions;
  readonly discovery: Pick<Discovery, 'resourcesWithoutKind'>;
  readonly log: Logger;
}

/**
 * Finds and loads the hosts of extension points. Files are hashed for each deployment, and loaded
 * again when they have changed, so that development needs no restart.
 */
export class Customizations {
  readonly #options: CustomizationsOptions;
  readonly #scopes = new Map<string, Scope>();

  constructor(options: CustomizationsOptions) {
    this.#options = options;
  }

  /** Loads the operator-wide hosts. @throws OperatorError EXTENSION_INVALID */
  async loadCommon(signal: AbortSignal): Promise<void> {
    await this.#scope(this.#options.commonDir, signal);
  }

  /**
   * The hosts for the objects of a module, with the files as they are now; undefined when there are
   * none.
   *
   * @param modulePath the directory of the module; undefined for one without
   * @throws OperatorError EXTENSION_INVALID
   */
  async of(modulePath: string | undefined, signal: AbortSignal): Promise<HostSet | undefined> {
    const own = modulePath === undefined ? NO_HOSTS : await this.#scope(join(modulePath, DIRECTORY), signal);
    const common = await this.#scope(this.#options.commonDir, signal);
    const scopes = [own, common].filter(({ hosts }) => hosts.size > 0);
    if (scopes.length === 0) return undefined;
    const all = scopes.flatMap(({ hosts }) => [...hosts.values()]);
    const modifying = scopes.filter(({ hosts }) =>
      [...hosts.values()].some((host) => host.modifyManifest !== undefined),
    );
    return {
      // Only hosts that modify objects: other extensions do not change what is deployed.
      digest: modifying.map(({ digest }) => digest).join(' '),
      has: (method) => all.some((host) => host[method] !== undefined),
      find: (apiVersion, kind) => {
        const key = keyOf(groupOf(apiVersion), kind);
        return scopes.flatMap(({ hosts }) => hosts.get(key) ?? []);
      },
    };
  }

  async #scope(directory: string, signal: AbortSignal): Promise<Scope> {
    const files = await findCustomizations(directory);
    if (files === undefined) {
      this.#scopes.delete(directory);
      return NO_HOSTS;
    }
    const known = this.#scopes.get(directory);
    if (known?.digest === files.digest) return known;
    const scope = await this.#load(files, signal);
    this.#scopes.set(directory, scope);
    return scope;
  }

  async #load({ hosts: files, misplaced, digest }: CustomizationFiles, signal: AbortSignal): Promise<Scope> {
    const { extensions, log: mainLog } = this.#options;
    for (const path of misplaced)
      mainLog.warn(
        { path },
        'the file exports extensions but its path names no kind, so it is not loaded: move it to customizations/<group>/<kind>.ts (or .mts, .js, .mjs)',
      );
    const hosts = new Map<string, PointHost>();
    for (const file of files) {
      const log = mainLog.child({ extension: file.path });
      const loaded = await extensions.load(file.path, log, signal);
      hosts.set(keyOf(file.group, file.kind), hostOf(file, loaded, extensions));
      const { group, kind } = file;
      const methods = methodsOf(loaded);
      log.info({ group, kind, methods }, 'extension loaded');
      for (const problem of unusedMethodProblems(loaded.description, methods))
        log.warn({ group, kind }, problem);
      await this.#warnOfUnservedKind(file, log, signal);
    }
    return { digest, hosts };
  }

  /**
   * Warns of a kind that is not served. Its definition may be installed later, so that is no error.
   */
  async #warnOfUnservedKind(file: HostFile, log: Logger, signal: AbortSignal): Promise<void> {
    const { group, kind } = file;
    try {
      const served = await this.#options.discovery.resourcesWithoutKind(file, signal);
      if (served !== undefined) log.warn({ group, kind }, unservedKindProblem(file, served));
    } catch (error) {
      signal.throwIfAborted();
      log.debug(
        { group, kind, ...errorFields(error) },
        'cannot check whether the kind of the extension is served',
      );
    }
  }
}

/**
 * @throws OperatorError EXTENSION_INVALID for another type of extension, or a class for another
 * kind
 */
function hostOf(file: HostFile, loaded: LoadedExtension, extensions: Extensions): PointHost {
  if (loaded.type !== EXTENSIONS)
    throw invalid(file, 'its default export must be the result of defineExtensions()');
  const name = stringOf(fieldsOf(loaded.description)['name']);
  const expected = `${file.kind}${SUFFIX}`;
  if (name !== '' && name.toLowerCase() !== expected.toLowerCase())
    throw invalid(
      file,
      `its class is ${name}, but a file with this name must define <Kind>${SUFFIX} for its kind`,
    );
  const entries = methodsOf(loaded).map((method) => [method, callOf(file.path, method, extensions)]);
  return { name: name === '' ? file.path : name, path: file.path, ...Object.fromEntries(entries) };
}

function methodsOf({ methods }: LoadedExtension): readonly PointMethod[] {
  return POINT_METHODS.filter((method) => methods.includes(method));
}

function callOf(path: string, method: PointMethod, extensions: Extensions): HostMethod {
  const returns = WITHOUT_RESULT.includes(method) ? 'optional' : 'value';
  return async (input, next, apiVersion, log, signal) =>
    await extensions.call(
      {
        path,
        method,
        // Objects and errors are JSON already.
        args: [input as Json, apiVersion],
        next: async ([given]) => (await next(given)) as Json | undefined,
        returns,
        log,
      },
      signal,
    );
}

function invalid({ path }: HostFile, why: string): OperatorError {
  return new OperatorError('EXTENSION_INVALID', `Cannot use extension '${path}': ${why}`);
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

function keyOf(group: string, kind: string): string {
  return `${group}/${kind.toLowerCase()}`;
}

/** A file that extends one kind. */
interface HostFile {
  readonly path: string;
  /** Empty for the core group. */
  readonly group: string;
  /** In lower case. */
  readonly kind: string;
}

interface CustomizationFiles {
  readonly hosts: readonly HostFile[];
  /** Files that export extensions but are no hosts: at another depth, or with another extension. */
  readonly misplaced: readonly string[];
  /** Covers every file of the directory, since hosts may import others. */
  readonly digest: string;
}

/** The directory name of the core group, whose own name is empty. */
const CORE = 'core';

/**
 * Finds the hosts in a `customizations` directory: each script `<group>/<kind>`. Undefined without
 * the directory, or without any file that is a host or resembles one.
 *
 * @throws OperatorError EXTENSION_INVALID for two hosts of one kind, or unreadable files
 */
async function findCustomizations(directory: string): Promise<CustomizationFiles | undefined> {
  // Most modules have none, and every module run needs the result: a synchronous check is the
  // fastest.
  if (!existsSync(directory)) return undefined;
  const paths = await filesBelow(directory);
  const hosts = paths.flatMap((path) => hostFile(path, relative(directory, path).split('/')));
  const misplaced = await exportingExtensions(
    paths.filter((path) => !hosts.some((host) => host.path === path)),
  );
  if (hosts.length === 0 && misplaced.length === 0) return undefined;
  refuseDoubles(hosts);
  const hash = createHash('sha256');
  for (const path of paths) {
    const content = await readExtensionFile(path);
    hash.update(`${relative(directory, path)}\n${content.length}\n`).update(content);
  }
  return { hosts, misplaced, digest: hash.digest('hex') };
}

async function exportingExtensions(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths.filter(mayExportDefinition))
    if (exportsDefinition((await readExtensionFile(path)).toString(), 'defineExtensions')) found.push(path);
  return found;
}

function hostFile(path: string, parts: readonly string[]): readonly HostFile[] {
  const [group, file, ...deeper] = parts;
  if (group === undefined || file === undefined || deeper.length > 0) return [];
  if (!isExtensionFile(file)) return [];
  const kind = basename(file, extname(file)).replaceAll('-', '').toLowerCase();
  return [{ path, group: group === CORE ? '' : group, kind }];
}

function refuseDoubles(hosts: readonly HostFile[]): void {
  for (const same of Map.groupBy(hosts, ({ group, kind }) => `${group}/${kind}`).values()) {
    if (same.length < 2) continue;
    const paths = same.map(({ path }) => path).toSorted();
    throw new OperatorError(
      'EXTENSION_INVALID',
      `Several files extend the same kind, but only one file may: ${paths.join(', ')}. Merge them into one; put shared code into files directly in customizations/`,
    );
  }
}
