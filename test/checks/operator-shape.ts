import { membersOfTypes } from './type-members.ts';

/** A type of parts or options has at most so many members, those of the types that it joins included. */
const MAX_MEMBERS = 12;

const DECLARATION = /^(?:export )?(?:interface|type) (?<name>\w+(?:Parts|Deps|Options))\b/gm;
const LATE = /\(\) => (?:Operator\b|built\.operator)|\boperator: \(\) =>/;

const CLASS = /^(?:export )?(?:abstract )?class (?<name>\w+).*\{\n(?<body>[^]*?)^\}/gm;
/** A member that others can write: neither `readonly` nor private, or a collection that is not `Readonly…`. */
const WRITABLE =
  /^ {2}(?:readonly (\w+)(?:: [^=\n]+)? = new (?:Map|Set)\b.*|(?!readonly |static |get |set |async )(\w+)[?!]?(?:: [^=(\n]+)?(?: = .*)?;)$/gm;

/** One sentence for each field of a class that others can write: a field has one writer, its class. */
export function sharedFields(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...sources].flatMap(([file, source]) =>
    [...source.matchAll(CLASS)].flatMap(({ groups }) =>
      [...(groups?.['body'] ?? '').matchAll(WRITABLE)].map(
        ([, collection, field]) =>
          `${file}: others can write ${groups?.['name']}.${collection ?? field}; make it private, with methods`,
      ),
    ),
  );
}

/**
 * One sentence for each type that has too many members, its own and those of the types that it joins, and for each function
 * that returns the operator later.
 */
export function shapeProblems(sources: ReadonlyMap<string, string>): readonly string[] {
  const members = membersOfTypes(sources);
  return [...sources].flatMap(([file, source]) => {
    const large = [...source.matchAll(DECLARATION)].flatMap(({ groups }) => {
      const name = groups?.['name'] ?? '';
      const count = members.get(name)?.size ?? 0;
      return count > MAX_MEMBERS
        ? [`${file}: ${name} has ${count} members, at most ${MAX_MEMBERS} may be`]
        : [];
    });
    return LATE.test(source)
      ? [...large, `${file} is given the operator before it exists: create its parts first`]
      : large;
  });
}
