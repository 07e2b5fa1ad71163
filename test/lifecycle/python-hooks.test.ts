import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, shHook } from '../support/world-files.ts';

/** Runs scripts of sh, and leaves a trace in their environment. */
const INTERPRETER = '#!/bin/sh\nINTERPRETER="$0" exec /bin/sh "$@"\n';
const HOOK = shHook(
  'beforeHelm: 1',
  'echo "ran with ${INTERPRETER##*/001-web/} home ${PYTHONHOME##*/001-web/}"',
);
const MODULES = {
  'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
  '001-web/hooks/a.py': HOOK,
  '001-web/hooks/venv/bin/python3': INTERPRETER,
  '001-web/hooks/venv/lib/python3.12/os.py': '',
  '002-db/hooks/hook.sh': announcer('db', { beforeHelm: 1 }),
};

describeApiIndependent((backend) => {
  test('a hook in Python runs with the interpreter of its virtual environment, and is configured with it', async () => {
    await using world = await World.create(backend(), { modules: MODULES });
    await world.converge();
    expect(world.log.printed[0]).toBe('ran with hooks/venv/bin/python3 home hooks/venv');
    const config = await runInWorld(world, 'hook', 'config', 'modules/001-web/hooks/a.py');
    expect(config.stdout).toContain('"beforeHelm": 1');
    const run = await runInWorld(world, 'hook', 'run', 'modules/001-web/hooks/a.py');
    expect(run.stdout).toContain('ran with hooks/venv/bin/python3');
  });

  test('a virtual environment without an interpreter stops its module with the path', async () => {
    await using world = await World.create(backend(), {
      modules: MODULES,
      flags: { 'module-failure-policy': 'isolate' },
    });
    await rm(`${world.directory}/modules/001-web/hooks/venv/bin/python3`);
    await world.start();
    await world.log.untilPrinted('db beforeHelm', 1);
    const { stdout } = await runInWorld(world, 'explain', 'module', 'web');
    expect(stdout).toMatch(
      /last error .*hooks\/a\.py': the virtual environment \S+hooks\/venv has no bin\/python3: create it/,
    );
  });
});
