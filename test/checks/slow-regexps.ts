import { parseAst } from 'vitest/node';

/** Part of a pattern: the characters it takes, or a group. */
interface Item {
  readonly source: string;
  readonly alternatives: readonly (readonly Item[])[] | undefined;
  readonly isOptional: boolean;
  readonly isUnbounded: boolean;
}

const TOKEN =
  /\\u\{[^}]*\}|\\[pP]\{[^}]*\}|\\x[\da-f]{2}|\\u[\da-f]{4}|\\k<\w+>|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:|<\w+>))?|[)|]|[^]/giy;
const QUANTIFIER = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;
const SAMPLES = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), 'é', 'я', '\u2028'];

/** One sentence for each literal of a TypeScript source that may take more than linear time. */
export function slowRegExpProblems(file: string, source: string): string[] {
  const problems: string[] = [];
  JSON.stringify(parseAst(source, { lang: 'ts' }), (_key, node: unknown) => {
    const regex = typeof node === 'object' && node !== null && 'regex' in node ? node.regex : undefined;
    if (isRegex(regex)) {
      const why = slowPart(regex.pattern, regex.flags);
      if (why !== undefined) problems.push(`${file}: /${regex.pattern}/${regex.flags} ${why}`);
    }
    return typeof node === 'bigint' ? undefined : node;
  });
  return problems;
}

function isRegex(value: unknown): value is { readonly pattern: string; readonly flags: string } {
  return typeof value === 'object' && value !== null && 'pattern' in value && 'flags' in value;
}

/** Why a pattern may backtrack; undefined when no such shape is found. */
export function slowPart(pattern: string, flags = ''): string | undefined {
  const reader = { pattern, index: 0 };
  const overlap = overlapOf(flags.replaceAll(/[gy]/g, ''));
  const visit = (alternatives: readonly (readonly Item[])[]): string | undefined => {
    for (const items of alternatives) {
      for (const item of items) {
        const inner =
          item.alternatives === undefined
            ? undefined
            : (loopProblem(item, overlap) ?? visit(item.alternatives));
        if (inner !== undefined) return inner;
      }
      for (const [index, item] of items.entries()) {
        const next = items[index + 1];
        if (next !== undefined && isLoop(item) && isLoop(next) && overlap(item, next))
          return `repeats ${item.source} and then ${next.source}, which overlap`;
      }
    }
    return undefined;
  };
  return visit(readAlternatives(reader));
}

const isLoop = (item: Item): boolean => item.isUnbounded && item.alternatives === undefined;

/** Whether it takes at least one character in each alternative, of which the first decides where a repetition before it ends. */
function isPlain({ alternatives }: Item): boolean {
  return (
    alternatives?.every(
      ([first]) => first !== undefined && first.alternatives === undefined && !first.isOptional,
    ) ?? true
  );
}

function loopProblem({ alternatives = [], isUnbounded, source }: Item, overlap: Overlap): string | undefined {
  if (!isUnbounded) return undefined;
  for (const items of alternatives) {
    const [first, last] = [items[0], items.at(-1)];
    if (first !== undefined && last !== undefined && isLoop(first) && isLoop(last) && overlap(last, first))
      return `repeats ${source}, which ends with ${last.source} and begins with ${first.source}`;
    const separators = items.filter((item) => !item.isOptional && !item.isUnbounded && isPlain(item));
    for (const loop of items.filter(isLoop))
      if (!separators.some((item) => !overlap(item, loop)))
        return `repeats ${source}, which repeats ${loop.source}`;
  }
  const single = alternatives.flatMap((items) => (items.length === 1 ? items : []));
  for (const [index, one] of single.entries())
    for (const other of single.slice(index + 1))
      if (one.alternatives === undefined && other.alternatives === undefined && overlap(one, other))
        return `repeats ${source}, whose alternatives overlap`;
  return undefined;
}

type Overlap = (a: Item, b: Item) => boolean;

function overlapOf(flags: string): Overlap {
  const taken = (source: string): ReadonlySet<string> => {
    if (/^(?:[$^]|\\[bB]|\\k<|\\[1-9])/.test(source)) return new Set();
    const one = new RegExp(`^(?:${source})$`, flags.replace('m', ''));
    return new Set(SAMPLES.filter((sample) => one.test(sample)));
  };
  const firstOf = (item: Item): ReadonlySet<string> =>
    item.alternatives === undefined
      ? taken(item.source)
      : new Set(item.alternatives.flatMap(([first]) => (first === undefined ? [] : [...firstOf(first)])));
  return (a, b) => {
    const others = firstOf(b);
    return [...firstOf(a)].some((sample) => others.has(sample));
  };
}

interface Reader {
  readonly pattern: string;
  index: number;
}

function readAlternatives(reader: Reader): Item[][] {
  let items: Item[] = [];
  const alternatives = [items];
  for (;;) {
    const start = reader.index;
    const token = next(reader, TOKEN);
    if (token === '' || token === ')') return alternatives;
    if (token === '|') {
      items = [];
      alternatives.push(items);
      continue;
    }
    const inner = token.startsWith('(') ? readAlternatives(reader) : undefined;
    const source = reader.pattern.slice(start, reader.index);
    const quantifier = next(reader, QUANTIFIER);
    items.push({
      source,
      alternatives: inner,
      isOptional: /^(?:[?*]|\{0)/.test(quantifier),
      isUnbounded: /^(?:[*+]|\{\d+,\})/.test(quantifier),
    });
  }
}

function next(reader: Reader, token: RegExp): string {
  token.lastIndex = reader.index;
  const text = token.exec(reader.pattern)?.[0] ?? '';
  reader.index += text.length;
  return text;
}
