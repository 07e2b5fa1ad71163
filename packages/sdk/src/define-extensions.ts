import { didYouMean } from '@addon-operator/json/similar-word';
import {
  type ExtensionDefinition,
  type ExtensionMethod,
  extensionDefinition,
} from './extension-definition.ts';
import { type ExtensionHost, POINT_METHODS, type PointMethod } from './extension-points.ts';

/** The `type` of definitions made here. */
export const EXTENSIONS = 'extensions';

/**
 * Makes extensions for one kind of object, to be the default export of `customizations/<group>/<kind>.ts`.
 *
 * @param host an object with some of the methods of the extension points, best an instance of a class
 *   `<Kind>Extensions`; it is frozen, for it must not have state that changes
 * @throws TypeError when it has none of the methods
 */
export function defineExtensions(host: ExtensionHost): ExtensionDefinition {
  const present = POINT_METHODS.filter((method) => typeof host[method] === 'function');
  const unused = unusedNames(host);
  const name = nameOf(host);
  if (present.length === 0) {
    throw new TypeError(
      `defineExtensions(): ${name === '' ? 'the object' : name} has none of the methods ${POINT_METHODS.join(', ')}${meantInstead(unused)}`,
    );
  }
  return extensionDefinition({
    type: EXTENSIONS,
    description: { name, unused: [...unused] },
    methods: Object.fromEntries(present.map((method) => [method, methodOf(host, method)])),
    host,
  });
}

/** The name of its class; empty for a plain object. */
function nameOf(host: object): string {
  const { constructor } = host;
  return constructor === Object || typeof constructor !== 'function' ? '' : constructor.name;
}

/**
 * Names of methods that are not called: those of no point, which may be helpers or misspelt, and those of points whose
 * value is not a function. Getters are not called for it.
 */
function unusedNames(host: object): readonly string[] {
  const names = new Set<string>();
  for (const [name, value] of membersOf(host)) {
    const isPoint = POINT_METHODS.some((method) => method === name);
    if (isPoint ? typeof Reflect.get(host, name) !== 'function' : typeof value === 'function')
      names.add(name);
  }
  return [...names];
}

/** Own members, then those of its classes. */
function membersOf(value: object | null): readonly (readonly [name: string, value: unknown])[] {
  if (value === null || value === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(value))
    .filter(([name]) => name !== 'constructor')
    .map(([name, descriptor]) => [name, descriptor.value] as const);
  return [...own, ...membersOf(Object.getPrototypeOf(value))];
}

function meantInstead(unused: readonly string[]): string {
  const meant = unused.flatMap((name) => {
    const question = didYouMean(name, POINT_METHODS);
    return question === '' ? [] : [`${name}${question}`];
  });
  return meant.length === 0 ? '' : `; it has ${meant.join(', ')}`;
}

function methodOf(host: ExtensionHost, name: PointMethod): ExtensionMethod {
  // What travels between daemon and thread is checked by the daemon, not by types.
  const method = host[name] as (...args: readonly unknown[]) => unknown;
  return ({ args: [input, apiVersion], next, log }) => method.call(host, input, next, apiVersion, log);
}
