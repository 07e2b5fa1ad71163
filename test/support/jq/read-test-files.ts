import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One case of jq's own tests. */
export interface TestCase {
  /** For example `jq.test:42`: the file and the line of the program. */
  readonly id: string;
  readonly program: string;
  /** What the program has to do. */
  readonly expected: 'compile-error' | Outcome;
}

export interface Outcome {
  /** JSON text, in the wider sense of jq: `nan` and a byte order mark too. */
  readonly input: string;
  /** JSON texts. An error behind the last one is allowed, as in jq's own runner. */
  readonly outputs: readonly string[];
}

const SEPARATING = /^[ \t]*(?:#|$)/;
const MUST_FAIL = /^%%FAIL/;

/** The cases in all files of a directory that end with `.test`, in their order. */
export function readTestFiles(directory: string): readonly TestCase[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.test'))
    .sort()
    .flatMap((name) => [...casesOf(name, readFileSync(join(directory, name), 'utf8').split('\n'))]);
}

function* casesOf(name: string, lines: readonly string[]): Iterable<TestCase> {
  for (const { start, block } of blocksOf(lines)) {
    const mustFail = MUST_FAIL.test(block[0] ?? '');
    const [program = '', input = '', ...outputs] = mustFail ? block.slice(1) : block;
    yield {
      id: `${name}:${start + (mustFail ? 2 : 1)}`,
      program,
      expected: mustFail ? 'compile-error' : { input, outputs },
    };
  }
}

/** Lines that follow each other without an empty line or a comment. */
function* blocksOf(lines: readonly string[]): Iterable<{ start: number; block: readonly string[] }> {
  let start = 0;
  for (const [at, line] of [...lines, ''].entries()) {
    if (!SEPARATING.test(line)) continue;
    if (at > start) yield { start, block: lines.slice(start, at) };
    start = at + 1;
  }
}
