import { describe, expect, test } from 'vitest';
import { lacksBashOrJq, runBashHook } from './bash-hook.ts';

const event = (watchEvent: string) => ({ binding: 'pods', type: 'Event', watchEvent });
const conversion = {
  binding: 'conv',
  type: 'Conversion',
  fromVersion: 'stable.example.com/v1alpha1',
  toVersion: 'stable.example.com/v1',
};

const DISPATCH: readonly (readonly [string, object, readonly string[]])[] = [
  ['onStartup', { binding: 'onStartup' }, ['__on_startup']],
  [
    'a Synchronization',
    { binding: 'pods', type: 'Synchronization', objects: [] },
    ['__on_kubernetes::pods::synchronization', '__on_kubernetes::pods'],
  ],
  [
    'an object added',
    event('Added'),
    ['__on_kubernetes::pods::added', '__on_kubernetes::pods::added_or_modified', '__on_kubernetes::pods'],
  ],
  [
    'an object modified',
    event('Modified'),
    ['__on_kubernetes::pods::modified', '__on_kubernetes::pods::added_or_modified', '__on_kubernetes::pods'],
  ],
  ['an object deleted', event('Deleted'), ['__on_kubernetes::pods::deleted', '__on_kubernetes::pods']],
  ['a group', { binding: 'pods', type: 'Group', groupName: 'all' }, ['__on_group::all']],
  ['a schedule', { binding: 'nightly', type: 'Schedule' }, ['__on_schedule::nightly']],
  [
    'a request to validate',
    { binding: 'a.example.com', type: 'Validating' },
    ['__on_validating::a.example.com'],
  ],
  ['a request to mutate', { binding: 'a.example.com', type: 'Mutating' }, ['__on_mutating::a.example.com']],
  [
    'a conversion',
    conversion,
    ['__on_conversion::conv::stable.example.com.v1alpha1::stable.example.com.v1', '__on_conversion::conv'],
  ],
  [
    'a conversion between versions without a group',
    { ...conversion, fromVersion: 'v1', toVersion: 'v2' },
    ['__on_conversion::conv::v1::v2', '__on_conversion::conv'],
  ],
  ['a binding of the old format', { binding: 'beforeHelm' }, []],
];

describe.skipIf(lacksBashOrJq)('hook::run of the shell library (needs bash and jq)', () => {
  test.each(DISPATCH)('for %s calls the first function that exists', async (_case, context, names) => {
    const handlers = [...names, '__main__'];
    for (const index of handlers.keys()) {
      const functions = handlers.slice(index).map((name) => `${name}() { echo '${name}'; }`);
      const { stdout, exitCode } = await runBashHook(`${functions.join('\n')}\nhook::run "$@"`, {
        contexts: [context],
      });
      expect([stdout, exitCode]).toEqual([handlers[index], 0]);
    }
  });

  test('prints the configuration for --config and runs nothing else', async () => {
    const text =
      '__config__() { echo \'configVersion: v1\'; }\n__main__() { echo no; }\nhook::run "$@"\necho no';
    const run = await runBashHook(text, { args: ['--config'], contexts: [{ binding: 'onStartup' }] });
    expect(run).toEqual({ exitCode: 0, stdout: 'configVersion: v1', stderr: '' });
  });

  test('runs every binding context in order, with its index and binding, each in a subshell', async () => {
    const text = `COUNT=0
__main__() {
  COUNT=$((COUNT + 1))
  cat
  printenv BINDING_CONTEXT_CURRENT_INDEX BINDING_CONTEXT_CURRENT_BINDING
  echo "count $COUNT"
  exit 0
}
hook::run "$@"
echo "end $COUNT"`;
    const contexts = [{ binding: 'every 5 sec', type: 'Schedule' }, {}, { binding: 'b' }];
    const { stdout, exitCode } = await runBashHook(text, { contexts });
    expect(stdout).toBe(
      `0
every 5 sec
count 1
1
unknown
count 1
2
b
count 1
end 0`,
    );
    expect(exitCode).toBe(0);
  });

  test('with no binding context calls nothing', async () => {
    const run = await runBashHook('__main__() { echo no; }\nhook::run "$@"');
    expect(run).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  test('fails when no function fits, and names those that would', async () => {
    const run = await runBashHook('hook::run "$@"', { contexts: [event('Deleted')] });
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain('__on_kubernetes::pods::deleted, __on_kubernetes::pods, __main__');
  });

  test('ends at the first command that fails in a function, and keeps its exit code', async () => {
    const text = '__main__() {\n  echo before\n  (exit 3)\n  echo after\n}\nhook::run "$@"';
    const run = await runBashHook(text, { contexts: [{ binding: 'a' }, { binding: 'b' }] });
    expect([run.exitCode, run.stdout]).toEqual([3, 'before']);
    expect(run.stderr).toMatch(/status 3, called from:\n.*hook\.sh:8 in main\n {4}hook::run "\$@"/);
    expect(run.stderr).toMatch(/hook\.sh:5 in __main__\n {4}\(exit 3\)/);
  });

  test('another hook::run finds the functions of a binding context, and runs one, by the names of the original', async () => {
    const text = `
hook::run() {
  export BINDING_CONTEXT_CURRENT_INDEX=0 BINDING_CONTEXT_CURRENT_BINDING=nightly
  hook::_run_first_available_handler "$(hook::_get_possible_handler_names) __main__"
}
__main__() { echo main; false; echo more; }
hook::run`;
    const run = await runBashHook(text, { contexts: [{ binding: 'nightly', type: 'Schedule' }] });
    expect([run.exitCode, run.stdout]).toEqual([1, 'main']);
    const own = await runBashHook(`__on_schedule::nightly() { echo nightly; }\n${text}`, {
      contexts: [{ binding: 'nightly', type: 'Schedule' }],
    });
    expect([own.exitCode, own.stdout]).toEqual([0, 'nightly']);
  });
});
