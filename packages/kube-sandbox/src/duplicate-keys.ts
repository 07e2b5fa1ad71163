const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Paths of the keys that occur twice in one object of a valid JSON text, in the order of their second occurrence. */
export function duplicateKeys(text: string): readonly string[] {
  const duplicates: string[] = [];
  const open: {
    readonly path: string;
    readonly keys: Set<string> | undefined;
    index: number;
    key: string;
  }[] = [];
  let pending = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === '{' || token === '[') {
      const path = top === undefined ? '' : childPath(top);
      open.push({ path, keys: token === '{' ? new Set() : undefined, index: 0, key: '' });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',') {
      if (top !== undefined) top.index += 1;
    } else if (token === ':') {
      if (top?.keys === undefined) continue;
      const key: unknown = JSON.parse(pending);
      top.key = String(key);
      if (top.keys.has(top.key)) duplicates.push(childPath(top));
      top.keys.add(top.key);
    } else pending = token;
  }
  return duplicates;
}

function childPath(parent: {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  readonly index: number;
  readonly key: string;
}): string {
  if (parent.keys === undefined) return `${parent.path}[${parent.index}]`;
  return parent.path === '' ? parent.key : `${parent.path}.${parent.key}`;
}
