/** A string with the colon behind it that makes it a key, or a bracket. */
const TOKEN = /"(?:[^"\\]|\\.)*"(?<colon>\s*:)?|[{}[\]]/gs;

/** The first key that stands twice in one object of a valid JSON text, with its offset; undefined if there is none. */
export function findDuplicateKey(
  json: string,
): { readonly key: string; readonly offset: number } | undefined {
  const open: Set<string>[] = [];
  for (const token of json.matchAll(TOKEN)) {
    const [text] = token;
    if (text === '{' || text === '[') open.push(new Set());
    else if (text === '}' || text === ']') open.pop();
    else if (token.groups?.['colon'] !== undefined) {
      const key: unknown = JSON.parse(text.slice(0, text.lastIndexOf('"') + 1));
      const seen = open.at(-1);
      if (typeof key !== 'string' || seen === undefined) continue;
      if (seen.has(key)) return { key, offset: token.index };
      seen.add(key);
    }
  }
  return undefined;
}
