import { expect, test } from 'vitest';
import {
  HOOK_FAILURE as FAILURE,
  LONG_HOOK as HOOK,
  READY_MODULE as READY,
  BLOCKING_TASK as TASK,
} from '../../test/support/module-explanations.ts';
import type { UnmetRequirement } from '../modules/requirements.ts';
import type { Cause } from './cause.ts';
import { causesOf, NO_OBSTACLES, type Obstacles } from './module-causes.ts';

type Explained = Parameters<typeof causesOf>[0];

function needs(type: UnmetRequirement['type']): Partial<Explained> {
  const text = 'requires module db';
  const db = { name: 'db', range: '>=2', isOptional: false, status: null, unmet: { type, text } };
  return { status: 'disabled', source: 'requirement', reason: text, requires: [db] };
}

function firstCause(explained: Partial<Explained>, obstacles: Partial<Obstacles>): Cause | undefined {
  return causesOf({ ...READY, ...explained }, { ...NO_OBSTACLES, ...obstacles })[0];
}

test.each<[string, Partial<Explained>, Partial<Obstacles>, string | null]>([
  [
    'a module that is not authorized',
    { status: 'unauthorized', reason: 'not authorized: the lock file does not list it' },
    {},
    'correct what the reason names: the files of the module and their signature, the keyring, the lock file or the record of serial numbers',
  ],
  [
    'a deletion that a flow hook ended',
    { status: 'deleting' },
    { isPutOff: true },
    'start it again with `addon-operator module reconcile web`',
  ],
  [
    'a global hook that fails',
    {},
    { blocksAll: TASK },
    'correct /global-hooks/a.sh or what its error names; the operator retries by itself',
  ],
  [
    'an enabled script that fails',
    {},
    { blocksAll: { ...TASK, file: '/modules/db/enabled', error: 'no answer' } },
    'correct /modules/db/enabled or what its error names; the operator retries by itself',
  ],
  [
    'a hook of its own that fails',
    {
      status: 'failing',
      failure: {
        ...FAILURE,
        error: 'no disk',
        place: { type: 'hook', file: '/modules/001-web/hooks/a.sh', binding: 'schedule' },
      },
    },
    {},
    'correct /modules/001-web/hooks/a.sh or what its error names; the operator retries by itself',
  ],
  [
    'a failure of helm',
    { status: 'failing', failure: { ...FAILURE, error: 'no such key' } },
    {},
    'correct what the error names; the operator retries by itself',
  ],
  [
    'a refused ConfigMap',
    {},
    { configProblem: 'bad', editConfigMap: 'kubectl -n op edit configmap values' },
    'correct the ConfigMap with `kubectl -n op edit configmap values`',
  ],
  ['a requirement that does not exist', needs('absent'), {}, 'add module db in version >=2'],
  [
    'a requirement that is disabled',
    needs('disabled'),
    {},
    'enable module db in version >=2; `addon-operator explain module db` says why it is disabled',
  ],
  [
    'a requirement that is not authorized',
    needs('unauthorized'),
    {},
    'authorize module db; `addon-operator explain module db` says why it is not',
  ],
  [
    'a requirement of an unknown version',
    needs('version-unknown'),
    {},
    'set the version of module db in its module.yaml or Chart.yaml',
  ],
  [
    'a requirement in another version',
    needs('version'),
    {},
    'install module db in version >=2, or change the range in the module.yaml of module web',
  ],
])('what fixes %s is named with its file, command or module', (_name, explanation, obstacles, remedy) => {
  expect(firstCause(explanation, obstacles)?.remedy).toBe(remedy);
});

test('the error of a task does not repeat the name of the hook that the task has', () => {
  const [task, error] = ['GlobalHookRun a.sh', "global hook 'a.sh' failed: no network"];
  const cause = firstCause({}, { blocksAll: { ...TASK, task, error } });
  expect(cause?.text).toBe(`GlobalHookRun a.sh at the head of queue main fails: no network`);
  const inRun = { ...TASK, task: 'ModuleRun db', error: "module hook 'hooks/a.sh' failed: no disk" };
  const other = firstCause({}, { blocksAll: inRun });
  expect(other?.text).toContain(
    "ModuleRun db at the head of queue main fails: module hook 'hooks/a.sh' failed",
  );
});

test('a cause has the headline of an error, and none of the lines below it', () => {
  const error = 'hook a.py failed: OSError: no disk\n\nTraceback\n  main()\nOSError: no disk';
  const own = firstCause({ status: 'failing', failure: { ...FAILURE, error } }, {});
  expect(own?.text).toBe(`HOOK_FAILED: hook a.py failed: OSError: no disk`);
  expect(firstCause({}, { blocksAll: { ...TASK, error } })?.text).not.toContain('main()');
  expect(firstCause({}, { configProblem: error })?.text).not.toContain('main()');
});

test('what has to end first is the first cause', () => {
  const failing = { ...READY, status: 'failing', failure: { ...FAILURE, error: 'no disk' } } as const;
  const obstacles = { ...NO_OBSTACLES, configProblem: 'no map', blocksOwn: TASK, hooks: [HOOK] };
  expect(causesOf(failing, obstacles).map(({ node, reason }) => `${node} ${reason}`)).toEqual([
    'config ConfigMapRefused',
    'helm RunFailed',
    'before-helm HookRunning',
    'queue QueueBlocked',
  ]);
});
