import { type NamedTest, testsOf } from './test-lists.ts';

/** What an entry of a list of faults or a section on promises says of its tests. */
export interface TestedClaim {
  /** Such as `A5` for a fault or `P3` for a promise. */
  readonly id: string;
  readonly tests: readonly NamedTest[];
  /** Why nothing is tested, where the list says so. */
  readonly untested: string | undefined;
}

/** The entries `- A5 (loss). …` of the list of faults, in their order. */
export function faultsOf(list: string): TestedClaim[] {
  return list
    .split(/^- /m)
    .slice(1)
    .map((entry) => ({
      id: /^\S+/.exec(entry)?.[0] ?? '',
      tests: testsOf(entry),
      untested: /^ {2}Untested: (.+)$/m.exec(entry)?.[1],
    }));
}

/** The sections `### P3. …` of the page of promises, whose tests are items ``- `file`: name``. */
export function promisesOf(page: string): TestedClaim[] {
  return page
    .split(/^### (?=P\d+\. )/m)
    .slice(1)
    .map((section) => ({
      id: /^P\d+/.exec(section)?.[0] ?? '',
      tests: [...section.matchAll(/^- `([^`]+\.ts)`: (.+)$/gm)].map(([, file = '', name = '']) => ({
        file,
        name,
      })),
      untested: undefined,
    }));
}

/** A test that says of itself which faults it injects and which promises it shows. */
export interface TaggedTest {
  readonly name: string;
  readonly ids: readonly string[];
}

const TAG = /(?:FAULT-)?([A-N]\d+|P\d+)/g;
const TAGS = /(?:FAULT-[A-N]\d+|P\d+)(?:[,;] (?:FAULT-)?(?:[A-N]\d+|P\d+))*/.source;

/**
 * The tests of a file that carry tags: in their name, as `FAULT-A5, P3: …`, or in a comment line of their own right above,
 * as `// FAULT-A5, A6; P3`.
 */
export function taggedTests(text: string): TaggedTest[] {
  const tagged: TaggedTest[] = [];
  for (const [, name = ''] of text.matchAll(new RegExp(String.raw`\(\s*'((?:${TAGS}): [^']+)',`, 'g')))
    tagged.push({ name, ids: idsIn(name.slice(0, name.indexOf(': '))) });
  for (const match of text.matchAll(new RegExp(String.raw`^ *// (${TAGS})$`, 'gm'))) {
    const behind = text.slice(match.index + match[0].length);
    // The name of a test table follows its rows.
    const name = /^\s*test\b[\s\S]*?\(\s*'([^']+)',\s*(?:async |\()/.exec(behind);
    tagged.push({ name: name?.[1] ?? '', ids: idsIn(match[1] ?? '') });
  }
  return tagged;
}

function idsIn(tags: string): string[] {
  return [...tags.matchAll(TAG)].map(([, id = '']) => id);
}

/** One message for each tag of a test of this file that the lists do not have. */
export function unlistedTags(
  file: string,
  tests: readonly TaggedTest[],
  claims: ReadonlyMap<string, TestedClaim>,
): string[] {
  return tests.flatMap(({ name, ids }) =>
    ids
      .filter((id) => claims.get(id)?.tests.some((test) => test.file === file && test.name === name) !== true)
      .map((id) => `${file}: the test "${name}" is tagged ${id}, which does not list it`),
  );
}
