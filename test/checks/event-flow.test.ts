import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { flowFiles, flowProblems, MAX_FLOW_FILES, missingFiles } from './event-flow.ts';
import { importsOf } from './import-graph.ts';
import { importsOfProject, sourcesOfProject } from './project-imports.ts';

const sources = sourcesOfProject();

/** Listed files that are called and return, or are reached through a type: only the page says that they belong there. */
const CALLED_ONLY = [
  '../packages/kube-client/src/reflector-watch.ts',
  '../packages/kube-client/src/reflector-index.ts',
  '../packages/kube-client/src/reflector-subscribers.ts',
  'events/kubernetes/object-filter.ts',
  'events/kubernetes/object-store.ts',
  'events/kubernetes/event-gate.ts',
  'operator/task-router.ts',
  '../packages/task-queue/src/queue-set.ts',
  'operator/refused-modules.ts',
  'operator/pause-tasks.ts',
  'operator/run-aborts.ts',
  'hooks/run-files.ts',
  'hooks/parse-outputs.ts',
  'values/values-store.ts',
  '../packages/kube-client/src/object-patch/object-patcher.ts',
];

test('the way of an event in docs/architecture.md is that of the code', () => {
  const listed = flowFiles(readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8'));
  expect(listed.length).toBeGreaterThan(20);
  const imports = importsOfProject(sources);
  expect(flowProblems(listed, new Set(sources.keys()), imports)).toEqual([]);
  expect(missingFiles(listed, sources, imports)).toEqual([]);
});

test('the list cannot lose a file that others of it need', () => {
  const listed = flowFiles(readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8'));
  const imports = importsOfProject(sources);
  const unnoticed = listed.slice(1, -1).filter((left) => {
    const others = listed.filter((file) => file !== left);
    const problems = flowProblems(others, new Set(sources.keys()), imports);
    return [...problems, ...missingFiles(others, sources, imports)].length === 0;
  });
  expect(unnoticed).toEqual(CALLED_ONLY);
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

test.each([
  { what: 'a file between two of the list', listed: ['a.ts', 'c.ts'], beside: [], missing: ['b.ts'] },
  { what: 'a file behind an interface', listed: ['a.ts', 'b.ts', 'c.ts'], beside: [], missing: [] },
  { what: 'a file beside the way', listed: ['a.ts', 'c.ts'], beside: ['b.ts'], missing: [] },
])('missingFiles() of $what', ({ listed, beside, missing }) => {
  const texts = new Map([
    ['a.ts', "import { b } from './b.ts';\nimport type { T } from './t.ts';"],
    ['b.ts', "import { c } from './c.ts';"],
    ['c.ts', ''],
    ['t.ts', "import { c } from './c.ts';"],
    ['app/start.ts', "import { c } from '../c.ts';"],
  ]);
  expect(missingFiles(listed, texts, importsOf(texts), beside)).toEqual(
    missing.map(
      (file) => `${file} is not listed, but lies between listed files or behind an interface of them`,
    ),
  );
});

test('missingFiles() finds implementations of the interfaces, and needless exceptions', () => {
  const texts = new Map([
    ['a.ts', ''],
    ['class.ts', 'export class Slow implements ProcessRunner {\n}'],
    ['function.ts', 'export function slow(\n  runner: ProcessRunner,\n): ProcessRunner {\n}'],
    ['user.ts', 'export function use(runner: ProcessRunner): void {\n}'],
  ]);
  expect(missingFiles(['a.ts'], texts, [], ['user.ts'])).toEqual([
    'class.ts is not listed, but lies between listed files or behind an interface of them',
    'function.ts is not listed, but lies between listed files or behind an interface of them',
    'user.ts need not be named as lying beside the way',
  ]);
});
