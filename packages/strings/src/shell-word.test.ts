import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test.each(['/a/b-1.0_x', 'two words', "it's", '$HOME `x` "y" \\', 'a\nb', ''])(
  'shellWord() brings %j through a shell',
  (text) => {
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' })).toBe(text);
  },
);
