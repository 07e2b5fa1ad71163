import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { copyWithoutPackage } from '../support/copy-without-package.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { explain } from '../support/extension-world.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';
import { processesOf, untilNoProcesses } from '../support/world-processes.ts';

let backend: SandboxBackend;
beforeAll(async () => {
  backend = await sandboxBackend();
});
afterAll(() => backend[Symbol.asyncDispose]());

/** Leaves a child in a session of its own, and so outside of its process group. */
const LEAVES_A_CHILD = `: > "$WORLD/followed"
setsid tail -f "$WORLD/followed" &
echo started`;

test('a daemon runs and ends hooks and helm, but measures no hook, when koffi is not installed', async () => {
  await using world = await World.create(backend, {
    modules: {
      'values.yaml': 'webEnabled: true\n',
      ...under('001-web', configMapChart('web', 'web')),
      '001-web/hooks/before.sh': shHook('beforeHelm: 1', 'echo before helm'),
    },
    globalHooks: {
      'start.sh': shHook('onStartup: 1', LEAVES_A_CHILD),
      'endless.sh': shHook(
        'schedule: [{crontab: "* * * * * *", queue: endless}]',
        'echo endless; while :; do sleep 600; done',
      ),
    },
  });
  const program = await copyWithoutPackage(join(world.directory, 'copy'), 'koffi');
  await using daemon = DaemonProcess.start(world, { 'shutdown-grace': '100ms' }, {}, [], program);
  await daemon.untilConverged();
  await daemon.log.untilPrinted('endless');

  const started = 'launcher started without native spawn: slower, no usage figures';
  expect(await daemon.record(started)).toMatchObject({ fallbackReason: expect.stringContaining("'koffi'") });
  expect(daemon.log.printed).toEqual(['started', 'before helm', 'endless']);
  expect(await world.get('configmaps', 'web')).toBeDefined();
  // The socket serves commands although the user of its client is unknown.
  expect(await explain(world, 'web')).toMatchObject({ module: 'web' });
  const metrics = await daemon.page('/metrics');
  expect(metrics).toMatch(/^addon_operator_module_hook_run_seconds_count\{.*before\.sh/m);
  expect(metrics).not.toMatch(/_run_(?:user_cpu_seconds|sys_cpu_seconds|max_rss_bytes)[^\n]*\{/);

  const running = await processesOf(world);
  expect(running.filter((line) => line.includes('followed'))).toEqual([]);
  expect(running.filter((line) => line.includes('endless.sh'))).not.toEqual([]);
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
  await untilNoProcesses(world);
});
