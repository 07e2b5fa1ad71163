import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from './checkout.ts';
import { copiesOf, stagesOf, textsOf } from './dockerfile.ts';

/** Neither modules nor hooks. */
const OTHERS = ['catalogue', 'dockerfiles', 'k9s'];
const EXAMPLES = directoriesIn('examples').filter((name) => !OTHERS.includes(name));
const CATALOGUE = directoriesIn('examples/catalogue');

test.each(EXAMPLES)('the example %s has a README with the command that runs it, and a test', (name) => {
  const readme = readText(`examples/${name}/README.md`);
  expect(readme).toContain(`bin/addon-operator sandbox --modules-dir examples/${name}/modules`);
  expect(readme).toContain(`--global-hooks-dir examples/${name}/global-hooks`);
  expect(readText('examples/README.md')).toContain(`(${name}/README.md)`);
  expect(readText('test/examples/suite.ts')).toContain(`from './${name}.ts'`);
});

test.each(CATALOGUE)('%s of the catalogue has a README with the command that runs it, and a test', (name) => {
  const readme = readText(`examples/catalogue/${name}/README.md`);
  // The chart installs an operator of its own.
  const command = existsSync(join(projectRoot, 'examples/catalogue', name, 'Chart.yaml'))
    ? `helm install example examples/catalogue/${name}`
    : `bin/addon-operator sandbox --modules-dir examples/catalogue/${name}/module`;
  expect(readme).toContain(command);
  expect(readText('examples/catalogue/README.md')).toContain(`(${name}/README.md)`);
  const tests = readdirSync(join(projectRoot, 'test/examples/catalogue'));
  expect(tests.map((file) => readText(`test/examples/catalogue/${file}`)).join('\n')).toContain(`'${name}'`);
});

test('the image of 202-repack-build is based on the operator image, and its hooks are where it says', () => {
  const [stage] = stagesOf(readText('examples/catalogue/202-repack-build/Dockerfile'));
  expect(stage?.base).toBe('addon-operator:latest');
  const copies = stage === undefined ? [] : copiesOf(stage);
  expect(copies).toEqual([{ from: undefined, sources: ['hooks'], target: '/hooks' }]);
  expect(stage === undefined ? [] : textsOf(stage, 'ENV')).toEqual(['GLOBAL_HOOKS_DIR=/hooks LOG_TYPE=json']);
  expect(stage === undefined ? [] : textsOf(stage, 'USER').at(-1)).toBe('65532:65532');
});

test('every module and example but those of the catalogue needs only what is in the checkout', () => {
  for (const directory of ['modules', 'global-hooks', 'examples']) {
    const paths = readdirSync(join(projectRoot, directory), { recursive: true, encoding: 'utf8' });
    const scripts = paths.filter(
      (path) =>
        !path.startsWith('catalogue/') &&
        (path.endsWith('.sh') || path.endsWith('.mjs') || path.endsWith('enabled')),
    );
    for (const path of scripts) {
      const [shebang = ''] = readText(join(directory, path)).split('\n');
      expect([path, shebang]).toEqual([path, path.endsWith('.mjs') ? '#!/usr/bin/env node' : '#!/bin/sh']);
    }
  }
});

function directoriesIn(directory: string): string[] {
  return readdirSync(join(projectRoot, directory), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function readText(path: string): string {
  const absolute = join(projectRoot, path);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
}
