/** A declaration of an interface or of a type: what follows its name, without comments. */
interface Declared {
  readonly isInterface: boolean;
  readonly text: string;
}

const HEAD = /^(?:export )?(?<keyword>interface|type) (?<name>\w+)/gm;
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm;
const OPENING = '{<([';
const CLOSING = '}>)]';

/**
 * The members of each type that the sources declare, by its name: its own, and those of the types that it extends, joins
 * with `&`, or chooses from with `Pick` and `Omit`. Types that the sources do not declare have none.
 */
export function membersOfTypes(
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const declared = new Map<string, Declared>();
  for (const source of sources.values()) {
    const text = source.replaceAll(COMMENT, '');
    for (const { groups, index, 0: head } of text.matchAll(HEAD)) {
      const isInterface = groups?.['keyword'] === 'interface';
      const end = isInterface ? '}' : ';';
      declared.set(groups?.['name'] ?? '', { isInterface, text: upTo(text, index + head.length, end) });
    }
  }
  const inType = (name: string, seen: readonly string[]): readonly string[] => {
    const found = declared.get(name);
    if (found === undefined || seen.includes(name)) return [];
    const within = [...seen, name];
    if (!found.isInterface) return inExpression(found.text.slice(found.text.indexOf('=') + 1, -1), within);
    const start = found.text.indexOf('{');
    const [, parents = ''] = /\bextends\b([^]*)/.exec(found.text.slice(0, start)) ?? [];
    return [found.text.slice(start), ...partsOf(parents, ',')].flatMap((part) => inExpression(part, within));
  };
  const inExpression = (expression: string, seen: readonly string[]): readonly string[] => {
    const parts = partsOf(expression, '&');
    if (parts.length > 1) return parts.flatMap((part) => inExpression(part, seen));
    const [one = ''] = parts;
    if (one.startsWith('{')) return partsOf(one.slice(1, -1), ';').flatMap(memberName);
    const [, name = '', parameters = ''] = /^(\w+)(?:<([^]*)>)?$/.exec(one) ?? [];
    if (name !== 'Pick' && name !== 'Omit') return inType(name, seen);
    const [base = '', keys = ''] = partsOf(parameters, ',');
    const named = [...keys.matchAll(/'(\w+)'/g)].map(([, key = '']) => key);
    return name === 'Pick' ? named : inExpression(base, seen).filter((member) => !named.includes(member));
  };
  return new Map([...declared.keys()].map((name) => [name, new Set(inType(name, []))]));
}

function memberName(member: string): readonly string[] {
  const [, name] = /^(?:readonly )?(\w+)/.exec(member) ?? [];
  return name === undefined ? [] : [name];
}

/** The text from `start` to the first `end` outside of brackets, including it. */
function upTo(text: string, start: number, end: string): string {
  const { length } = splitOutside(text.slice(start), end)[0] ?? '';
  return text.slice(start, start + length + 1);
}

function partsOf(text: string, separator: string): readonly string[] {
  return splitOutside(text, separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The parts between separators that are outside of brackets; a closing bracket separates behind itself. */
function splitOutside(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    const isArrow = character === '>' && text[index - 1] === '=';
    if (OPENING.includes(character)) depth += 1;
    if (CLOSING.includes(character) && !isArrow) depth -= 1;
    if (depth !== 0 || character !== separator) continue;
    parts.push(text.slice(start, index));
    start = index + 1;
  }
  return [...parts, text.slice(start)];
}
