import { expect, test } from 'vitest';
import { debianPackages } from './command-line.ts';

test.each([
  [undefined, []],
  ['', []],
  ['python3', ['python3']],
  ['python3,apt:gettext-base', ['python3', 'gettext-base']],
  ['apt:g++=4:14.2.0-1', ['g++=4:14.2.0-1']],
])('--with %j is the packages %j', (value, packages) => {
  expect(debianPackages(value)).toEqual(packages);
});

test.each(['pip:requests', 'apt:', 'Python', '-y', 'a b', '$(id)'])('--with %s is refused', (value) => {
  expect(() => debianPackages(value)).toThrow(
    `--with ${value}: expected Debian packages, such as python3 or apt:python3`,
  );
});
