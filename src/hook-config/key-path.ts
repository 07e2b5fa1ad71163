/** `.name`, `.["any string"]` or `[0]`; sticky, so that nothing between two steps is skipped. */
const STEP = /\.([A-Za-z_][A-Za-z0-9_]*)|\.?\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]/gy;

/**
 * The steps of a path such as `.metadata.labels["app"]`, which is jq too. It is not a jq program, because it is evaluated for
 * each event, before the event is queued.
 *
 * @throws Error if the string is not a path
 */
export function parseKeyPath(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  let end = 0;
  for (const match of path.matchAll(STEP)) {
    const [text, name, quoted, index] = match;
    end = match.index + text.length;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? (JSON.parse(`"${quoted ?? ''}"`) as string));
  }
  if (steps.length === 0 || end !== path.length)
    throw new Error(`'${path}' is neither object nor namespace nor a path such as .metadata.labels["app"]`);
  return steps;
}
