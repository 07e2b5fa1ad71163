import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../checks/checkout.ts';
import { lacksBashOrJq, runBashHook, write } from './bash-hook.ts';

/** The functions of the original's library (shell-operator 1.20) by name; other libraries call also those with an underscore. */
const FUNCTIONS_OF_ORIGINAL = [
  'backtrace',
  'context::_basename',
  'context::_convert_user_path_to_jq_path',
  'context::_dirname',
  'context::get',
  'context::global::jq',
  'context::has',
  'context::is_false',
  'context::is_null',
  'context::is_true',
  'context::jq',
  'hook::_get_possible_handler_names',
  'hook::_run_first_available_handler',
  'hook::run',
];

describe.skipIf(lacksBashOrJq)('shell_lib.sh (needs bash and jq)', () => {
  test.each([
    ['a failing command', 'false', 'false'],
    ['a failing part of a pipe', 'false | cat', 'false | cat'],
    ['a failing command substitution', 'x=$(false; echo more)', 'x=$(false; echo more)'],
  ])('ends the hook at %s and shows the line', async (_case, line, shown) => {
    const { exitCode, stdout, stderr } = await runBashHook(`${line}\necho after`);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/A command failed with status 1, called from:\n.*hook\.sh:3 in main\n/);
    expect(stderr).toContain(`    ${shown}`);
  });

  test.each([
    ['an unset variable', 'echo "$nobody_set_this"', 'nobody_set_this'],
    ['a glob without a match', 'echo /no-such-directory-*', 'no match'],
  ])('ends the hook at %s', async (_case, line, text) => {
    const { exitCode, stdout, stderr } = await runBashHook(`f() { ${line}; }\nf\necho after`);
    expect(exitCode).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(text);
  });

  test('a trace begins with the outermost call', async () => {
    const { stderr } = await runBashHook('inner() {\n  false\n}\nouter() {\n  inner\n}\nouter');
    const places = [...stderr.matchAll(/hook\.sh:(\d+) in (\w+)/g)].map(
      ([, line, name]) => `${line} ${name}`,
    );
    expect(places.slice(0, 3)).toEqual(['9 main', '7 outer', '4 inner']);
  });

  test('has each function of the original', async () => {
    const { stdout } = await runBashHook(`for name in ${FUNCTIONS_OF_ORIGINAL.join(' ')}; do
      declare -F -- "$name" >/dev/null || echo "$name"
    done`);
    expect(stdout).toBe('');
  });

  test('sources every file of frameworks/shell beside it, also nested ones and through a link', async () => {
    const root = await mkdtemp(join(tmpdir(), 'framework dir-'));
    try {
      await cp(join(projectRoot, 'frameworks'), join(root, 'image/frameworks'), { recursive: true });
      await cp(join(projectRoot, 'shell_lib.sh'), join(root, 'image/shell_lib.sh'));
      await write(join(root, 'image/frameworks/shell/team/more.SH'), 'team::greet() { echo hello; }\n');
      await write(join(root, 'image/frameworks/shell/notes.txt'), 'exit 1\n');
      await symlink('image/shell_lib.sh', join(root, 'shell_lib.sh'));
      const text = '__main__() { team::greet; }\nhook::run "$@"';
      const run = await runBashHook(text, { frameworkDir: root, contexts: [{ binding: 'a' }] });
      expect(run).toEqual({ exitCode: 0, stdout: 'hello', stderr: '' });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
