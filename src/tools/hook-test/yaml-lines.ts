import { OperatorError } from '@addon-operator/base/errors';
import type { Path } from '@addon-operator/json/shape';
import { EVENT_ID, type Event, getScalarValue, parseEvents } from 'js-yaml';

/** Finds the line of a value by its path. */
export type LineOf = (path: Path) => number;

/**
 * The lines of the values in a YAML text that {@link parseYaml} has read. A path that is not there has the line of the value
 * around it.
 *
 * @throws OperatorError CONFIG_INVALID for anchors and aliases
 */
export function yamlLines(text: string, source: string): LineOf {
  const lines = new Map<string, number>();
  const lineAt = lineFinder(text);
  const events = parseEvents(text, {})[Symbol.iterator]();
  const next = (): Event => {
    const { value } = events.next();
    if (value === undefined || value.type === EVENT_ID.POP || value.type === EVENT_ID.DOCUMENT)
      return { type: EVENT_ID.POP };
    if (value.anchorStart >= 0)
      throw new OperatorError(
        'CONFIG_INVALID',
        `${source}:${lineAt(value.anchorStart)}: anchors and aliases are not allowed here: put what is used twice into a file of fixtures`,
      );
    return value;
  };
  const note = (path: Path, event: Event): void => {
    const start = startOf(event);
    if (start !== undefined && !lines.has(keyOf(path))) lines.set(keyOf(path), lineAt(start));
  };
  const walk = (event: Event, path: Path): void => {
    note(path, event);
    if (event.type === EVENT_ID.SEQUENCE)
      for (let index = 0, item = next(); item.type !== EVENT_ID.POP; index += 1, item = next())
        walk(item, [...path, index]);
    if (event.type !== EVENT_ID.MAPPING) return;
    for (let key = next(); key.type !== EVENT_ID.POP; key = next()) {
      const place = [...path, key.type === EVENT_ID.SCALAR ? getScalarValue(text, key) : ''];
      note(place, key);
      walk(next(), place);
    }
  };
  const document = events.next();
  if (document.done !== true) walk(next(), []);
  return (path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const line = lines.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

function keyOf(path: Path): string {
  return JSON.stringify(path.map(String));
}

function startOf(event: Event): number | undefined {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart < 0 ? undefined : event.valueStart;
  return event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE ? event.start : undefined;
}

function lineFinder(text: string): (offset: number) => number {
  const ends: number[] = [];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) ends.push(end);
  return (offset) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
