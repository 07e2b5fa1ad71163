import { expect, test } from 'vitest';
import { looksLikeHook } from './hook-likeness.ts';

const SH = '#!/bin/sh\n';

test.each([
  ['a script with #!', 'hooks/b', SH, true],
  ['a file with the ending of another hook', 'hooks/sub/b.sh', 'echo\n', true],
  ['a script of TypeScript beside one of JavaScript', 'hooks/b.mts', 'export {};\n', true],
  ['another ending', 'hooks/b.rb', 'puts 1\n', false],
  ['no ending, as another hook', 'hooks/Makefile', 'all:\n', false],
  ['a source in Go', 'hooks/main.go', SH, false],
  ['a test', 'hooks/a_test.sh', SH, false],
  ['a test of TypeScript', 'hooks/a.test.ts', '', false],
  ['types', 'hooks/a.d.ts', '', false],
  ['a file that a hook sources', 'hooks/functions.sh', SH, false],
  ['a module that a hook imports', 'hooks/common.py', 'X = 1\n', false],
  ['a module whose name is the beginning of that', 'hooks/comm.py', 'X = 1\n', true],
  ['a script that a hook imports', 'hooks/shared.js', '', false],
])('looksLikeHook() for %s (%s)', (_what, path, text, expected) => {
  const hooks = [
    { path: 'hooks/a.sh', text: `${SH}. "$(dirname "$0")/functions.sh"\n` },
    { path: 'hooks/a.py', text: 'import os, common\n' },
    { path: 'hooks/a.js', text: "import { a } from './shared.js';\n" },
    { path: 'hooks/batch', text: '\u007fELF' },
  ];
  expect(looksLikeHook({ path, text }, hooks)).toBe(expected);
});
