import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';

const EXAMPLES = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test.each(EXAMPLES)('the example %s has a README with the command that runs it, and a test', (name) => {
  const readme = readText(`examples/${name}/README.md`);
  expect(readme).toContain(`bin/addon-operator sandbox --modules-dir examples/${name}/modules`);
  expect(readme).toContain(`--global-hooks-dir examples/${name}/global-hooks`);
  expect(readText('examples/README.md')).toContain(`(${name}/README.md)`);
  expect(readText('test/examples/suite.ts')).toContain(`from './${name}.ts'`);
});

test('every module and example needs only what is in the checkout', () => {
  for (const directory of ['modules', 'global-hooks', 'examples']) {
    const paths = readdirSync(join(projectRoot, directory), { recursive: true, encoding: 'utf8' });
    const scripts = paths.filter(
      (path) => path.endsWith('.sh') || path.endsWith('.mjs') || path.endsWith('enabled'),
    );
    for (const path of scripts) {
      const [shebang = ''] = readText(join(directory, path)).split('\n');
      expect([path, shebang]).toEqual([path, path.endsWith('.mjs') ? '#!/usr/bin/env node' : '#!/bin/sh']);
    }
  }
});

function readText(path: string): string {
  const absolute = join(projectRoot, path);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
}
