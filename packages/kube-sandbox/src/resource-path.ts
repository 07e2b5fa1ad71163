/** The parts of a URL path below `/api/v1` or `/apis/GROUP/VERSION`. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** Subresources of a namespace; every other word behind its name is a plural. */
const NAMESPACE_SUBRESOURCES: readonly (string | undefined)[] = ['status', 'finalize'];

/** Takes a URL path apart; undefined when it names no resource. Segments may be percent-encoded. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = decodeSegments(path);
  const [root, ...rest] = segments ?? [];
  if (root === 'api') return parseBelowVersion('', rest[0], rest.slice(1));
  if (root === 'apis' && rest[0] !== undefined) return parseBelowVersion(rest[0], rest[1], rest.slice(2));
  return undefined;
}

/** Path segments without the empty ones; undefined for broken percent-encoding. */
export function decodeSegments(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function parseBelowVersion(
  group: string,
  version: string | undefined,
  segments: readonly string[],
): ResourcePath | undefined {
  const [first, second, third] = segments;
  if (version === undefined || first === undefined) return undefined;
  const isScoped =
    first === 'namespaces' &&
    second !== undefined &&
    third !== undefined &&
    !(group === '' && NAMESPACE_SUBRESOURCES.includes(third));
  const namespace = isScoped ? { namespace: second } : {};
  const [plural = '', name, subresource, ...deeper] = isScoped ? segments.slice(2) : segments;
  if (deeper.length > 0 && subresource !== 'proxy') return undefined;
  return {
    group,
    version,
    plural,
    ...namespace,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
