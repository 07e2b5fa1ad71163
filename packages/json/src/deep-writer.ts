/** A part that is left to write: a string, or a value behind a string. */
type Left = string | { readonly before: string; readonly value: unknown };

/**
 * Writes the text of `JSON.stringify` at any depth, which that function, being recursive, does not reach. It takes several
 * times as long. Undefined where a value has no JSON.
 */
export function writeDeepJson(value: unknown): string | undefined {
  const pieces: string[] = [];
  const root = plain('', value);
  if (isOmitted(root)) return undefined;
  const left: Left[] = [{ before: '', value: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') pieces.push(next);
    else if (!isContainer(next.value)) pieces.push(next.before, JSON.stringify(next.value) ?? 'null');
    else {
      const isList = Array.isArray(next.value);
      pieces.push(next.before, isList ? '[' : '{');
      const parts = isList ? itemsOf(next.value) : membersOf(next.value);
      left.push(isList ? ']' : '}');
      for (let index = parts.length - 1; index >= 0; index -= 1) left.push(parts[index] as Left);
    }
  }
  return pieces.join('');
}

function itemsOf(list: object): Left[] {
  return Array.from(list as ArrayLike<unknown>, (item, index) => ({
    before: index === 0 ? '' : ',',
    value: plain(String(index), item),
  }));
}

function membersOf(object: object): Left[] {
  const members: Left[] = [];
  for (const [key, member] of Object.entries(object)) {
    const value = plain(key, member);
    if (isOmitted(value)) continue;
    members.push({ before: `${members.length === 0 ? '' : ','}${JSON.stringify(key)}:`, value });
  }
  return members;
}

function plain(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, key) : value;
}

function isOmitted(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol';
}

const { isRawJSON } = JSON as unknown as { readonly isRawJSON?: (value: unknown) => boolean };

/** Whether it is written part by part. */
function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && isRawJSON?.(value) !== true;
}
