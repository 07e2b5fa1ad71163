import { expect, test } from 'vitest';
import {
  failing,
  type HookBehaviour,
  type HookProcess,
  name,
  type OperatorLab,
  operatorLab,
} from '../../test/support/operator-lab.ts';

const EVENT_HOOK = { kubernetes: [{ kind: 'Pod', name: 'pods' }] };

/** A module with one hook that has converged, ready to be given an event. */
async function started(): Promise<OperatorLab> {
  const lab = await operatorLab(['web'], { 'web/a.sh': EVENT_HOOK });
  await lab.converge();
  lab.takeCalls();
  return lab;
}

async function runWith(lab: OperatorLab, behaviour: HookBehaviour): Promise<void> {
  lab.behaviours.set('web/a.sh', behaviour);
  lab.emit('web/a.sh/pods');
  await lab.settle();
}

const writesAll = ({ write }: HookProcess): void => {
  write('METRICS_PATH', { name: 'hook_metric', action: 'set', value: 1 });
  write('KUBERNETES_PATCH_PATH', { operation: 'Delete', kind: 'Pod', name: 'p', namespace: 'n' });
  write('CONFIG_VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/c', value: 1 });
  write('VALUES_JSON_PATCH_PATH', { op: 'add', path: '/web/v', value: 2 });
};

test('objects are patched, then config values are saved, then values are changed', async () => {
  await using lab = await started();
  lab.obstacles.set('save web', () => {
    expect(lab.values.moduleValues(name('web'))).toEqual({});
  });
  await runWith(lab, writesAll);
  expect(lab.calls.slice(0, 3)).toEqual(['web/a.sh Event:pods', 'patch Delete', 'save web']);
  expect(lab.values.moduleValues(name('web'))).toEqual({ c: 1, v: 2 });
  expect(lab.values.moduleConfigValues(name('web'))).toEqual({ c: 1 });
});

test.each([
  ['a broken file', 'METRICS_PATH', { name: 'm', action: 'observe', value: 1 }],
  [
    'a patch of values that does not apply',
    'VALUES_JSON_PATCH_PATH',
    { op: 'add', path: '/web/a/b', value: 1 },
  ],
  [
    'a patch of config values that does not apply',
    'CONFIG_VALUES_JSON_PATCH_PATH',
    { op: 'remove', path: '/web/a' },
  ],
  ['a test that fails', 'VALUES_JSON_PATCH_PATH', { op: 'test', path: '/web/a', value: 1 }],
])('nothing is applied beside %s', async (_what, variable, content) => {
  await using lab = await started();
  await runWith(lab, (hook) => {
    writesAll(hook);
    hook.write(variable, content);
  });
  expect(lab.calls).toEqual(['web/a.sh Event:pods']);
  expect(lab.values.moduleValues(name('web'))).toEqual({});
  expect(lab.main.entries[0]).toMatchObject({ failures: 1 });
  expect(lab.main.entries[0]?.lastError).toContain("module hook 'a.sh'");
});

test('P16: others run while large outputs are read, and before anything is applied', async () => {
  await using lab = await started();
  const order: string[] = [];
  lab.obstacles.set('patch Delete', () => {
    order.push('patched');
  });
  await runWith(lab, (hook) => {
    writesAll(hook);
    // Each look at the clock is half a slice later.
    const startMs = lab.clock.steadyMs();
    let looks = 0;
    lab.clock.steadyMs = () => {
      looks += 1;
      return startMs + looks * 10;
    };
    setImmediate(() => order.push('others'));
  });
  expect(order).toEqual(['others', 'patched']);
});

test('nothing a failed hook wrote is applied', async () => {
  await using lab = await started();
  await runWith(lab, (hook) => {
    writesAll(hook);
    throw new Error('late failure');
  });
  expect(lab.calls).toEqual(['web/a.sh Event:pods']);
  expect(lab.main.entries[0]?.lastError).toBe("module hook 'a.sh' failed: late failure");
});

test.each([
  ['patch Delete', ['patch Delete']],
  ['save web', ['patch Delete', 'save web']],
])('when "%s" fails, values stay as they are and the hook is run again', async (what, calls) => {
  await using lab = await started();
  lab.obstacles.set(what, failing as () => void);
  await runWith(lab, writesAll);
  expect(lab.calls).toEqual(['web/a.sh Event:pods', ...calls]);
  expect(lab.values.moduleValues(name('web'))).toEqual({});
  lab.obstacles.clear();
  await lab.clock.advance(5_000);
  await lab.settle();
  expect(lab.values.moduleValues(name('web'))).toEqual({ c: 1, v: 2 });
});

test('a hook of a module sees its values and the enabled modules, in VALUES_PATH only', async () => {
  await using lab = await started();
  lab.values.applyPatch(name('web'), [{ op: 'add', path: '/web/v', value: 1 }]);
  const seen: unknown[] = [];
  await runWith(lab, ({ read }) => {
    seen.push(read('VALUES_PATH'), read('CONFIG_VALUES_PATH'));
  });
  expect(seen).toEqual([
    { global: { enabledModules: ['web'] }, web: { v: 1 } },
    { global: null, web: null },
  ]);
});

test('a snapshot of a binding that is not watched yet is empty, and that is reported', async () => {
  await using lab = await operatorLab([], { 'global/a.sh': { beforeAll: 1, ...EVENT_HOOK } });
  let seen: unknown;
  lab.behaviours.set('global/a.sh', ({ contexts }) => {
    seen = contexts;
  });
  await lab.converge();
  expect(seen).toEqual([{ binding: 'beforeAll', snapshots: { pods: [] } }]);
  expect(lab.log.records).toContainEqual(expect.objectContaining({ level: 'warn', snapshot: 'pods' }));
});

test('runs are measured, successful or not', async () => {
  await using lab = await started();
  await runWith(lab, failing);
  const text = await lab.operator.metrics.scrape();
  expect(text).toMatch(/module_hook_run_seconds_count\{[^}]*binding="kubernetes"[^}]*activation=""\} 1\n/);
  expect(text).toMatch(/module_hook_errors_total\{[^}]*activation=""\} 1\n/);
});
