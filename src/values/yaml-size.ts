/** No less than what aliases may make of a text, and far below what would take the daemon's memory. */
export const MAX_YAML_CHARACTERS = 10_000_000;
/**
 * The time to read a text depends on its nodes, not on its length: 600,000 of them take about a second, in which nothing
 * else is done. A ConfigMap of 1 MiB has at most 530,000.
 */
export const MAX_YAML_MARKS = 600_000;
const MARKS: ReadonlySet<number> = new Set(Array.from(',:[{\n', (mark) => mark.charCodeAt(0)));

/** Why a text is not read at all; undefined for one of a reasonable size. */
export function yamlSizeProblem(text: string): 'characters' | 'marks' | undefined {
  if (text.length > MAX_YAML_CHARACTERS) return 'characters';
  return hasTooManyMarks(text) ? 'marks' : undefined;
}

/** The problem in words, without advice. */
export function describeYamlSize(problem: 'characters' | 'marks', text: string): string {
  switch (problem) {
    case 'characters':
      return `too large: ${text.length} characters, at most ${MAX_YAML_CHARACTERS} are read`;
    case 'marks':
      return `too large: more than ${MAX_YAML_MARKS} lines, commas, colons and opening brackets`;
  }
}

function hasTooManyMarks(text: string): boolean {
  if (text.length <= MAX_YAML_MARKS) return false;
  let marks = 0;
  for (let index = 0; index < text.length; index += 1) if (MARKS.has(text.charCodeAt(index))) marks += 1;
  return marks > MAX_YAML_MARKS;
}
