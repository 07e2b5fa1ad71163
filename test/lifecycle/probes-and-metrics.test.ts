import { expect, test } from 'vitest';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const FAILING_UNTIL_MENDED = shHook('beforeHelm: 1', '[ -e "$WORLD/mended" ]');
const LIVE_TICK_MS = 10_000;
const WAIT = { timeout: 60_000, interval: 50 };

async function page(world: World, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}${path}`);
  return { status: response.status, text: await response.text() };
}

/** The lines of a page of metrics that begin so. */
async function series(world: World, start: string, path = '/metrics'): Promise<string[]> {
  const { text } = await page(world, path);
  return text.split('\n').filter((line) => line.startsWith(start));
}

async function convergeStatus(world: World): Promise<unknown> {
  return JSON.parse((await page(world, '/status/converge?output=json')).text);
}

const NOTHING = {
  CONVERGE_IN_PROGRESS: 0,
  CONVERGE_WAIT_TASK: false,
  STARTUP_CONVERGE_DONE: false,
  STARTUP_CONVERGE_IN_PROGRESS: 0,
  STARTUP_CONVERGE_NOT_STARTED: false,
};

/** Operations contract, corner cases 17 to 26. */
describeLifecycle((backend) => {
  test('converges, module runs, helm, waits in queues and API requests are measured', async () => {
    await using world = await World.create(backend(), {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
    });
    await world.converge();
    const { text } = await page(world, '/metrics');
    for (const line of [
      'convergence_total{activation="OperatorStartup"} 1',
      'module_helm_seconds_count{module="web",activation="OperatorStartup"} 1',
      'helm_operation_seconds_count{module="web",activation="OperatorStartup",operation="template"} 1',
      'mm_module_info{module="web",enabled="true",critical="true"} 1',
      'modules_discover_errors_total 0',
    ])
      expect(text).toContain(`\naddon_operator_${line}\n`);
    for (const start of [
      'convergence_seconds{activation="OperatorStartup"} ',
      'module_run_seconds_count{module="web",activation="OperatorStartup"} ',
      'task_wait_in_queue_seconds_total{module="web",hook="",binding="ModuleRun",queue="main"} ',
      'tasks_queue_action_duration_seconds_count{queue_name="main",queue_action="AddLast"} ',
      'kubernetes_client_request_result_total{component="main",code="200",method="GET",host="',
      'kubernetes_client_rate_limiter_latency_seconds_count{verb="GET",url="',
    ])
      expect(text).toContain(`\naddon_operator_${start}`);
    expect(text).toContain('\nprocess_resident_memory_bytes ');
    expect(text).not.toContain('mm_module_maintenance{');
    await world.putConfig({ global: 'a: 1' });
    await expect
      .poll(() => series(world, 'addon_operator_convergence_total'), WAIT)
      .toContain('addon_operator_convergence_total{activation="ReloadAllModules"} 1');
    const again = 'activation="ReloadAllModules",operation="upgrade"';
    expect(await series(world, 'addon_operator_helm_operation_seconds_count')).toContain(
      `addon_operator_helm_operation_seconds_count{module="web",${again}} 1`,
    );
  });

  test('deletions of modules that fail are counted, and snapshots whose monitors do not run', async () => {
    const binding = `kubernetes: [{name: maps, apiVersion: v1, kind: ConfigMap}]\nafterDeleteHelm: 1`;
    await using world = await World.create(backend(), {
      modules: { ...under('001-web', configMapChart('web', 'web')) },
      config: { webEnabled: 'true' },
    });
    await world.converge();
    await world.stop();
    await world.write('modules', { '001-web/hooks/last.sh': shHook(binding, '[ -e "$WORLD/mended" ]') });
    await world.putConfig({ webEnabled: 'false' });
    await world.start();
    await world.untilDelayed();
    const errors = 'addon_operator_module_delete_errors_total';
    const missing = 'addon_operator_binding_monitor_missing_total';
    // Nothing is watched for a module that is only there to be deleted.
    expect(await series(world, errors)).toEqual([`${errors}{module="web"} 1`]);
    expect(await series(world, missing)).toEqual([`${missing}{binding="maps"} 1`]);
    await world.write('modules', { '../mended': '' });
    await world.passDelay();
    await world.daemon.operator.router.main.untilEmpty();
    expect(await series(world, errors)).toEqual([`${errors}{module="web"} 1`]);
    expect(await series(world, missing)).toEqual([`${missing}{binding="maps"} 2`]);
    expect(await world.get('configmaps', 'web')).toBeUndefined();
  });
});

describeApiIndependent((backend) => {
  test('/readyz and /status/converge follow the first converge, and /healthz and /metrics respond while main is blocked', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/ready" ]') },
      modules: { 'values.yaml': 'webEnabled: true\n', '001-web/hooks/hook.sh': FAILING_UNTIL_MENDED },
    });
    await world.start();
    await world.untilDelayed();
    expect(await convergeStatus(world)).toEqual({ ...NOTHING, STARTUP_CONVERGE_NOT_STARTED: true });
    await world.write('modules', { '../ready': '' });
    await world.passDelay();
    const isHeldUp = { queue: 'main', module: 'web', task_type: 'ModuleRun', hook: '' };
    const labels = Object.entries(isHeldUp).map(([name, value]) => `${name}="${value}"`);
    await world.log.untilMessage('ModuleRun failed. Requeue task to retry after delay.');
    expect((await page(world, '/status/converge')).text).toBe('STARTUP_CONVERGE_IN_PROGRESS: 2 tasks\n');
    expect(await convergeStatus(world)).toEqual({ ...NOTHING, STARTUP_CONVERGE_IN_PROGRESS: 2 });
    expect(await page(world, '/readyz')).toEqual({ status: 500, text: 'Startup converge in progress\n' });
    expect(await page(world, '/healthz')).toEqual({ status: 200, text: '' });
    expect(await series(world, 'addon_operator_tasks_queue_head_info')).toEqual([
      `addon_operator_tasks_queue_head_info{${labels.join(',')}} 1`,
    ]);
    expect(await series(world, 'addon_operator_tasks_queue_head_failures')).toEqual([
      'addon_operator_tasks_queue_head_failures{queue="main"} 1',
    ]);
    for (const name of ['head_since', 'next_attempt']) {
      const [line = ''] = await series(world, `addon_operator_tasks_queue_${name}_timestamp_seconds`);
      const seconds = Number(line.split(' ').at(-1));
      expect(new Date(seconds * 1_000).getUTCFullYear()).toBeGreaterThan(2_020);
    }
    expect(await series(world, 'addon_operator_module_status')).toEqual([
      'addon_operator_module_status{module="web",status="failing"} 1',
    ]);
    expect(await series(world, 'addon_operator_module_run_errors_total')).toEqual([
      'addon_operator_module_run_errors_total{module="web"} 1',
    ]);
    expect(await series(world, 'addon_operator_binding_count')).toEqual([
      'addon_operator_binding_count{module="",hook="a.sh"} 1',
      'addon_operator_binding_count{module="web",hook="hooks/hook.sh"} 1',
    ]);
    await world.write('modules', { '../mended': '' });
    await world.passDelay();
    await world.daemon.firstConverge;
    // Releases without a module are looked for behind the first converge.
    await world.daemon.operator.router.main.untilEmpty();
    expect(await page(world, '/readyz')).toEqual({ status: 200, text: 'Startup converge done.\n' });
    const done = { ...NOTHING, STARTUP_CONVERGE_DONE: true };
    expect(await convergeStatus(world)).toEqual({ ...done, CONVERGE_WAIT_TASK: true });
    expect((await page(world, '/status/converge')).text).toBe('STARTUP_CONVERGE_DONE\nCONVERGE_WAIT_TASK\n');
    expect(await series(world, 'addon_operator_tasks_queue_head_info')).toEqual([]);
    expect(await series(world, 'addon_operator_tasks_queue_head_since')).toEqual([]);
    expect(await series(world, 'addon_operator_module_status')).toEqual([
      'addon_operator_module_status{module="web",status="ready"} 1',
    ]);

    await world.expel('mended');
    await world.putConfig({ global: 'a: 1' });
    await world.untilDelayed();
    expect(await page(world, '/readyz')).toMatchObject({ status: 200 });
    expect(await convergeStatus(world)).toEqual({ ...done, CONVERGE_IN_PROGRESS: 2 });
  });

  test('the configured prefix applies to metrics of the daemon and not to those of hooks', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': shHook('onStartup: 1', `echo '{"name":"mine","set":1}' > "$METRICS_PATH"`) },
      flags: { 'prometheus-metrics-prefix': 'dev_' },
    });
    await world.converge();
    expect(await series(world, 'dev_live_ticks ')).toEqual(['dev_live_ticks 0']);
    await world.clock.passSleep(LIVE_TICK_MS);
    await expect.poll(() => series(world, 'dev_live_ticks '), WAIT).toEqual(['dev_live_ticks 1']);
    await world.clock.passSleep(LIVE_TICK_MS);
    await expect.poll(() => series(world, 'dev_live_ticks '), WAIT).toEqual(['dev_live_ticks 2']);
    expect(await series(world, 'mine', '/metrics/hooks')).toEqual(['mine{hook="a.sh"} 1']);
    expect(await series(world, 'addon_operator_')).toEqual([]);
  });

  test('module hooks are counted by their tasks, phases of a run are only measured, and allowed failures are counted separately', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/before.sh': shHook('beforeHelm: 1', ':'),
        '001-web/hooks/tick.sh': shHook(
          'schedule: [{name: every, crontab: "* * * * * *", allowFailure: true, queue: ticks}]',
          'echo tick; exit 1',
        ),
      },
    });
    await world.converge();
    const own = (hook: string, binding: string, queue: string, activation: string): string =>
      `{module="web",hook="hooks/${hook}",binding="${binding}",queue="${queue}",activation="${activation}"}`;
    const before = own('before.sh', 'beforeHelm', 'main', 'OperatorStartup');
    expect(await series(world, 'addon_operator_module_hook_run_seconds_count')).toContain(
      `addon_operator_module_hook_run_seconds_count${before} 1`,
    );
    // The other hook may have had a tick of the real clock by now.
    const successes = await series(world, 'addon_operator_module_hook_success_total{');
    expect(successes.filter((line) => line.includes('before.sh'))).toEqual([]);
    world.clock.jump(1_000);
    await world.log.untilMessage('hook failed, but the failure is allowed');
    const tick = own('tick.sh', 'schedule', 'ticks', '');
    const results = await series(world, 'addon_operator_module_hook_');
    expect(results).toContain(`addon_operator_module_hook_errors_total${tick} 0`);
    expect(results).toContain(`addon_operator_module_hook_success_total${tick} 0`);
    expect(results.join('\n')).toMatch(/module_hook_allowed_errors_total\{[^}]*tick\.sh[^}]*\} [1-9]/);
  });

  test.each([
    ['does not render', '{{ fail "no" }}', ['template']],
    [
      'is refused',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NO}',
      ['template', 'check-upgrade', 'upgrade'],
    ],
  ])('a chart that %s is measured until its failure', async (_what, template, operations) => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', { 'Chart.yaml': 'name: web\nversion: 1.0.0\n', 'templates/a.yaml': template }),
      },
    });
    await world.start();
    await world.untilDelayed();
    const labels = 'module="web",activation="OperatorStartup"';
    expect(await series(world, 'addon_operator_module_helm_seconds_count')).toEqual([
      `addon_operator_module_helm_seconds_count{${labels}} 1`,
    ]);
    const measured = await series(world, 'addon_operator_helm_operation_seconds_count');
    expect(measured.map((line) => /operation="([^"]+)"\} [1-9]/.exec(line)?.[1])).toEqual(operations);
  });

  test('a module in maintenance is on the metrics page, and queue operations are not when they are switched off', async () => {
    await using world = await World.create(backend(), {
      modules: { 'values.yaml': 'webEnabled: true\n', ...under('001-web', configMapChart('web', 'web')) },
      config: { webMaintenance: 'NoResourceReconciliation' },
      env: { QUEUE_ACTIONS_METRICS: 'no' },
    });
    await world.converge();
    const state = 'addon_operator_mm_module_maintenance{module="web",state="NoResourceReconciliation"} 1';
    expect(await series(world, 'addon_operator_mm_module_maintenance')).toEqual([state]);
    expect(await series(world, 'addon_operator_tasks_queue_action_duration_seconds')).toEqual([]);
  });
});
