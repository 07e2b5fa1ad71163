import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { flowFiles, flowProblems, MAX_FLOW_FILES } from './event-flow.ts';
import { importsOf } from './import-graph.ts';
import { importsOfProject, sourcesOfProject } from './project-imports.ts';

const sources = sourcesOfProject();

test('the way of an event in docs/architecture.md is that of the code', () => {
  const listed = flowFiles(readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8'));
  expect(listed.length).toBeGreaterThan(20);
  expect(flowProblems(listed, new Set(sources.keys()), importsOfProject(sources))).toEqual([]);
});

const graph = importsOf(
  new Map([
    ['a.ts', "import { b } from './b.ts';"],
    ['b.ts', ''],
    ['c.ts', "import { b } from './b.ts';"],
    ['far.ts', ''],
    ['app/start.ts', "import { a } from '../a.ts';"],
  ]),
);
const files = new Set(['a.ts', 'b.ts', 'c.ts', 'far.ts', 'app/start.ts']);

test.each([
  { what: 'files that import each other', listed: ['a.ts', 'b.ts', 'c.ts'], problems: [] },
  { what: 'a file that does not exist', listed: ['a.ts', 'gone.ts'], problems: ['there is no src/gone.ts'] },
  {
    what: 'a file without a link to those before it',
    listed: ['a.ts', 'far.ts'],
    problems: ['far.ts has no import in common with the files listed before it'],
  },
  {
    what: 'a file of the composition root',
    listed: ['a.ts', 'app/start.ts'],
    problems: ['app/start.ts creates parts, it is not on the way of an event'],
  },
  { what: 'a file twice', listed: ['a.ts', 'b.ts', 'a.ts'], problems: ['a.ts is listed twice'] },
])('flowProblems() of $what', ({ listed, problems }) => {
  expect(flowProblems(listed, files, graph)).toEqual(problems);
});

test('flowProblems() counts the files', () => {
  const listed = Array.from({ length: MAX_FLOW_FILES + 1 }, (_, index) => `${index}.ts`);
  expect(flowProblems(listed, new Set(listed), []).at(-1)).toBe('36 files are listed, at most 35 may be');
});

test('flowFiles() reads the table of its section only', () => {
  const page =
    '| `before.ts` | x |\n### The files on this way\n| file | what |\n| `a/b.ts` | y |\n| `packages/p/src/c.ts` | y |\n## Next\n| `c.ts` | z |\n';
  expect(flowFiles(page)).toEqual(['a/b.ts', '../packages/p/src/c.ts']);
});
