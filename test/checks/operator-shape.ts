/** A type of parts or options has at most so many members of its own. */
export const MAX_MEMBERS = 12;

const DECLARATION =
  /(?:interface|type) (?<name>\w+(?:Parts|Deps|Options))\b[^;{]*\{\n(?<body>(?: {2}.*\n|\n)*)\}/g;
const LATE = /\(\) => (?:Operator\b|built\.operator)|\boperator: \(\) =>/;

/** One sentence for each type that asks for too much, and for each function that returns the operator later. */
export function shapeProblems(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...sources].flatMap(([file, source]) => {
    const large = [...source.matchAll(DECLARATION)].flatMap(({ groups }) => {
      const count = [...(groups?.['body'] ?? '').matchAll(/^ {2}readonly \w+\??:/gm)].length;
      const name = groups?.['name'] ?? '';
      return count > MAX_MEMBERS
        ? [`${file}: ${name} has ${count} members, at most ${MAX_MEMBERS} may be`]
        : [];
    });
    return LATE.test(source)
      ? [...large, `${file} is given the operator before it exists: create its parts first`]
      : large;
  });
}
