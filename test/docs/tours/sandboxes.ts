import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import type { CommandScenario } from '../command-scenario.ts';
import { Terminal } from '../terminal.ts';

/** What the end screen of `npm start` and `sandbox` says last. */
const STARTED = 'What happens from now on';

export const starterTour: CommandScenario = {
  title: 'the tour through the starter modules',
  runs: [
    'tour-status',
    'tour-edit',
    'tour-hook',
    'tour-failing',
    'tour-fixed',
    'tour-explain',
    'tour-doctor',
    'tour-metrics',
    'tour-tidy',
    'pause',
    'explain-all',
    'explain',
    'starter-disable',
  ],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    const daemon = await terminal.startCommands('exec bin/addon-operator sandbox', STARTED);
    const [, address = ''] = /metrics +http:\/\/(\S+)\/metrics/.exec(daemon.output) ?? [];
    // Port 9650 may be taken on this machine.
    terminal.replaced.set('127.0.0.1:9650', address);

    await terminal.look('tour-status');
    await terminal.paste('tour-edit');
    await terminal.paste('tour-hook');
    await daemon.until(/hook hello\.sh ran .*: hello runs/);
    await apartFromFullMinute();
    await terminal.paste('tour-failing', /^queue main waits /, 1);
    await terminal.paste('tour-fixed');
    await daemon.until(/hook greeting\.sh ran .*: hello from a fixed hook/);
    await terminal.look('tour-explain');
    await terminal.look('tour-doctor', /^$/);
    await terminal.look('tour-metrics');
    await terminal.paste('tour-tidy');

    await terminal.run('export DEBUG_UNIX_SOCKET=.sandbox/debug.socket');
    await terminal.paste('pause', /^module web is paused until .*\nmodule web is resumed\n/);
    await terminal.look('explain-all');
    await terminal.look('explain');
    await terminal.paste('starter-disable');
    await vi.waitFor(
      async () =>
        expect(
          await terminal.run('kubectl -n addon-operator get deployments,configmaps -o name'),
        ).not.toContain('web'),
      { timeout: 60_000, interval: 250 },
    );
    return terminal.taken;
  },
};

/** Waits while a full minute is near: the heartbeat hook would add its task to the queue that the page shows. */
async function apartFromFullMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 25_000) await setTimeout(leftMs + 2000);
}

export const firstStepsTour: CommandScenario = {
  title: 'the first hook and the first module of a newcomer',
  runs: ['first-hook', 'first-hook-event', 'first-module', 'first-module-config'],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    const daemon = await terminal.start('first-hook', STARTED);
    await terminal.paste('first-hook-event');
    await daemon.until('nobody owns namespace shop');
    await terminal.paste('first-module', /^Hello from \S+$/);
    await terminal.paste('first-module-config', /^Good evening from \S+\ngreeting: Good evening\nhost: \S+$/);
    return terminal.taken;
  },
};

export const firstTestTour: CommandScenario = {
  title: 'from nothing to a tested hook, in three languages',
  runs: ['first-hook-sh', 'first-hook-python', 'first-hook-ts'],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    for (const name of ['first-hook-sh', 'first-hook-python', 'first-hook-ts'])
      await terminal.paste(
        name,
        /Synchronization of objects[^]*succeeded in[^]*\n1 passed, 0 failed, 0 skipped/,
      );
    return terminal.taken;
  },
};

export const exampleTour: CommandScenario = {
  title: 'an example in the sandbox, by hand and in CI',
  runs: ['running-sandbox', 'hook-run', 'hook-test', 'module-lint', 'hook-in-ci'],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    const daemon = await terminal.start('running-sandbox', STARTED);
    expect(daemon.output).toContain('namespace example-startup is wanted');
    await terminal.interrupt();
    await terminal.paste('hook-run', /run for onStartup[^]*would be created[^]*succeeded in/);
    await terminal.paste('hook-test', /2 passed, 0 failed/);
    await terminal.paste('module-lint', /3 modules: 0 errors, 0 warnings/);
    await terminal.paste('hook-in-ci');
    const log = await readFile(join(terminal.directory, '.sandbox/ci/daemon.log'), 'utf8');
    expect(log).toContain('first converge is finished');
    return terminal.taken;
  },
};
