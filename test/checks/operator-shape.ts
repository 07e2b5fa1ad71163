import { membersOfTypes } from './type-members.ts';

/** A type of parts or options has at most so many members, those of the types that it joins included. */
export const MAX_MEMBERS = 12;

/**
 * Types that have more because they join those of what they call. The numbers may only become smaller: a part that is
 * built from its own parts, and called through one member, takes several of them away.
 */
export const JOINED_MEMBERS: Readonly<Record<string, number>> = {
  BaseParts: 13,
};

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
export function shapeProblems(
  sources: ReadonlyMap<string, string>,
  joined: Readonly<Record<string, number>> = JOINED_MEMBERS,
): readonly string[] {
  const members = membersOfTypes(sources);
  return [...sources].flatMap(([file, source]) => {
    const large = [...source.matchAll(DECLARATION)].flatMap(({ groups }) => {
      const name = groups?.['name'] ?? '';
      const count = members.get(name)?.size ?? 0;
      const limit = joined[name] ?? MAX_MEMBERS;
      if (count > limit) return [`${file}: ${name} has ${count} members, at most ${limit} may be`];
      return limit > MAX_MEMBERS && count < limit
        ? [`${file}: ${name} has only ${count} members: write that into test/checks/operator-shape.ts`]
        : [];
    });
    return LATE.test(source)
      ? [...large, `${file} is given the operator before it exists: create its parts first`]
      : large;
  });
}
