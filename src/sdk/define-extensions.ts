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
  const name = nameOf(host);
  if (present.length === 0) {
    throw new TypeError(
      `defineExtensions(): ${name === '' ? 'the object' : name} has none of the methods ${POINT_METHODS.join(', ')}`,
    );
  }
  return extensionDefinition({
    type: EXTENSIONS,
    description: { name },
    methods: Object.fromEntries(present.map((method) => [method, methodOf(host, method)])),
    host,
  });
}

/** The name of its class; empty for a plain object. */
function nameOf(host: object): string {
  const { constructor } = host;
  return constructor === Object || typeof constructor !== 'function' ? '' : constructor.name;
}

function methodOf(host: ExtensionHost, name: PointMethod): ExtensionMethod {
  // What travels between daemon and thread is checked by the daemon, not by types.
  const method = host[name] as (...args: readonly unknown[]) => unknown;
  return ({ args: [input, apiVersion], next, log }) => method.call(host, input, next, apiVersion, log);
}
