import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

const PAGE = readFileSync(join(projectRoot, 'docs/lifecycle-steps.md'), 'utf8');

/** The text of all sources below a directory, without tests. */
function sourcesIn(directory: string): string {
  const files = readdirSync(join(projectRoot, directory), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(projectRoot, directory, name), 'utf8'))
    .join('\n');
}

test('the page about the steps of the lifecycle names every type of task', () => {
  const union = readFileSync(join(projectRoot, 'src/model/tasks.ts'), 'utf8');
  const types = new Set([...union.matchAll(/type: '([A-Z]\w+)'/g)].map(([, type = '']) => type));
  expect(types).toContain('ModuleRun');
  expect([...types].filter((type) => !PAGE.includes(`\`${type}\``))).toEqual([]);
});

test('every trigger on that page exists in the sources', () => {
  const triggers = [...PAGE.matchAll(/`([A-Z]\w+(?:-[A-Z]\w+)+|\w+(?:Detected|Status))`/g)].map(
    ([, name = '']) => name,
  );
  expect(triggers).toContain('Kubernetes-Change-ModuleValues');
  const sources = sourcesIn('src');
  expect(triggers.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});
