import { isRawJson } from './json.ts';

interface Open {
  readonly container: Readonly<Record<string, unknown>>;
  readonly keys: readonly string[];
  /** How many of the keys were looked at. */
  seen: number;
}

/** The path of the first map or list that is nested deeper than `levels`; undefined where there is none. */
export function pathBeyond(value: unknown, levels: number): readonly string[] | undefined {
  const open: Open[] = [];
  const path = (): readonly string[] => open.map(({ keys, seen }) => keys[seen - 1] ?? '');
  const enter = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null || isRawJson(part)) return true;
    if (open.length >= levels) return false;
    open.push({ container: part as Open['container'], keys: Object.keys(part), seen: 0 });
    return true;
  };
  if (!enter(value)) return [];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const key = top.keys[top.seen];
    if (key === undefined) open.pop();
    else {
      top.seen += 1;
      if (!enter(top.container[key])) return path();
    }
  }
  return undefined;
}
