import { join } from 'node:path';
import { OperatorError } from '../../lib/errors.ts';
import { fieldsOf, type Json, textOf } from '../../lib/json.ts';
import type { Logger } from '../../lib/log.ts';
import { EXTENSIONS } from '../../sdk/define-extensions.ts';
import { POINT_METHODS, type PointMethod } from '../../sdk/extension-points.ts';
import type { Extensions, LoadedExtension } from '../runtime/extension-runtime.ts';
import { type CustomizationFiles, findCustomizations, type HostFile } from './customization-files.ts';
import type { HostMethod, PointHost } from './point.ts';

/** The directory, in a module and operator-wide. */
const DIRECTORY = 'customizations';
const SUFFIX = 'Extensions';
/** Methods of which a missing answer is no mistake. */
const WITHOUT_RESULT: readonly PointMethod[] = ['delete', 'onSuccess'];

/** The hosts for the objects of one module. */
export interface HostSet {
  /** Of all files that can decide what `modifyManifest` gives; empty when no host has it. */
  readonly digest: string;
  /** Whether any host extends a point. */
  has(method: PointMethod): boolean;
  /** Hosts of a kind, whatever the version: that of the module, then the operator-wide one. */
  find(apiVersion: string, kind: string): readonly PointHost[];
}

interface Scope {
  readonly digest: string;
  readonly hosts: ReadonlyMap<string, PointHost>;
}

const NO_HOSTS: Scope = { digest: '', hosts: new Map() };

/** Finds and loads the hosts of extension points; loads again what has changed on disk. */
export class Customizations {
  readonly #commonDir: string;
  readonly #extensions: Extensions;
  readonly #log: Logger;
  readonly #scopes = new Map<string, Scope>();

  /** @param commonDir where the hosts are that are valid for all modules */
  constructor(commonDir: string, extensions: Extensions, log: Logger) {
    this.#commonDir = commonDir;
    this.#extensions = extensions;
    this.#log = log;
  }

  /**
   * Loads the operator-wide hosts.
   *
   * @throws OperatorError EXTENSION_INVALID
   */
  async loadCommon(signal: AbortSignal): Promise<void> {
    await this.#scope(this.#commonDir, signal);
  }

  /**
   * The hosts for the objects of a module, as their files are now; undefined when there are none.
   *
   * @param modulePath the directory of the module; undefined for one that has none any more
   * @throws OperatorError EXTENSION_INVALID
   */
  async of(modulePath: string | undefined, signal: AbortSignal): Promise<HostSet | undefined> {
    const own = modulePath === undefined ? NO_HOSTS : await this.#scope(join(modulePath, DIRECTORY), signal);
    const scopes = [own, await this.#scope(this.#commonDir, signal)].filter(({ hosts }) => hosts.size > 0);
    if (scopes.length === 0) return undefined;
    const all = scopes.flatMap(({ hosts }) => [...hosts.values()]);
    const modifying = scopes.filter(({ hosts }) =>
      [...hosts.values()].some((host) => host.modifyManifest !== undefined),
    );
    return {
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
    for (const path of misplaced)
      this.#log.warn(
        { path },
        'the file exports extensions, but of no kind, and is not used: it belongs to customizations/<group>/<kind>.ts',
      );
    const hosts = new Map<string, PointHost>();
    for (const file of files) {
      const log = this.#log.child({ extension: file.path });
      const loaded = await this.#extensions.load(file.path, log, signal);
      hosts.set(keyOf(file.group, file.kind), hostOf(file, loaded, this.#extensions));
      const { group, kind } = file;
      log.info({ group, kind, methods: loaded.methods }, 'extension is loaded');
    }
    return { digest, hosts };
  }
}

/** @throws OperatorError EXTENSION_INVALID for another sort of extension, or a class named for another kind */
function hostOf(file: HostFile, loaded: LoadedExtension, extensions: Extensions): PointHost {
  if (loaded.type !== EXTENSIONS)
    throw invalid(file, 'its default export has to be made by defineExtensions()');
  const name = textOf(fieldsOf(loaded.description)['name']);
  const expected = `${file.kind}${SUFFIX}`;
  if (name !== '' && name.toLowerCase() !== expected.toLowerCase())
    throw invalid(file, `its class is ${name}, but a file of this name holds <Kind>${SUFFIX} of its kind`);
  const methods = POINT_METHODS.filter((method) => loaded.methods.includes(method));
  const entries = methods.map((method) => [method, callOf(file.path, method, extensions)]);
  return { name: name === '' ? file.path : name, ...Object.fromEntries(entries) };
}

function callOf(path: string, method: PointMethod, extensions: Extensions): HostMethod {
  const returns = WITHOUT_RESULT.includes(method) ? 'optional' : 'value';
  return async (input, next, apiVersion, log, signal) =>
    await extensions.call(
      {
        path,
        method,
        // Objects and errors, which are JSON.
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
