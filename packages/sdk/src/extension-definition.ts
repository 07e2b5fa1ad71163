import type { Json } from '@addon-operator/json';
import { frozen } from './frozen.ts';
import type { HookLog } from './hook-input.ts';

/** The same symbol in every copy of this file, so that the daemon knows definitions made with a copy of the author's. */
const MARK = Symbol.for('addon-operator.extension');

/** One call of a method, as it arrives in the thread of the extension. */
export interface ExtensionCall {
  /** Frozen. */
  readonly args: readonly Json[];
  /**
   * Requests the default behaviour from the daemon, as often as it is called. Rejects with an error that has the `name`,
   * `message`, `code` and `status` of what failed in the daemon; passed on unchanged, it is that failure again.
   */
  readonly next: (...args: readonly unknown[]) => Promise<Json | undefined>;
  readonly log: HookLog;
  /** Aborts when the call is to end. */
  readonly signal: AbortSignal;
}

/** A method of an extension. Its result, or that of its promise, must be JSON or undefined. */
export type ExtensionMethod = (call: ExtensionCall) => unknown;

/** The default export of a file with extensions. */
export interface ExtensionDefinition {
  /** Which kind of extension this is. */
  readonly type: string;
  /** Further facts for the daemon. */
  readonly description: Json;
  readonly methods: Readonly<Record<string, ExtensionMethod>>;
}

/**
 * Makes a definition, for functions that offer authors something more telling.
 *
 * @param parts `host`: what the methods work with; it is frozen with everything that can be reached from it, its
 *   prototypes too, since two calls may find it in different threads, or in the same one
 */
export function extensionDefinition({
  type,
  description,
  methods,
  host,
}: ExtensionDefinition & { readonly host?: object }): ExtensionDefinition {
  if (host !== undefined) freezeHost(host);
  return Object.freeze({ [MARK]: true, type, description: frozen(description), methods: frozen(methods) });
}

/** Whether something was made by {@link extensionDefinition}. */
export function isExtensionDefinition(value: unknown): value is ExtensionDefinition {
  return typeof value === 'object' && value !== null && MARK in value;
}

/** Built-in objects that all the code of a thread shares. */
const BUILT_IN = new Set<unknown>([
  ...[Object, Function, Array, Map, Set, WeakMap, WeakSet, RegExp, Date, Error, Promise].flatMap((made) => [
    made,
    made.prototype,
  ]),
  Object.getPrototypeOf(async () => undefined),
]);

function freezeHost(value: unknown): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
  if (BUILT_IN.has(value) || Object.isFrozen(value) || !canBeFrozen(value)) return;
  Object.freeze(value);
  freezeHost(Object.getPrototypeOf(value));
  for (const { value: inner } of Object.values(Object.getOwnPropertyDescriptors(value))) freezeHost(inner);
}

/** Neither the elements of a buffer nor the namespace of an ES module can; the latter cannot be changed anyway. */
function canBeFrozen(value: object): boolean {
  return !ArrayBuffer.isView(value) && Object.prototype.toString.call(value) !== '[object Module]';
}
