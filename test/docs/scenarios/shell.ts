import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect } from 'vitest';
import { projectRoot } from '../../checks/checkout.ts';
import { World } from '../../support/world.ts';
import type { Scenario } from '../scenario.ts';

/** The hooks that stand on the page as a whole, and the way to run one by hand. */
export const shellScenario: Scenario = {
  title: 'the shell scripts of the page do what it says',
  takes: ['hook-first', 'hook-with-file', 'config-first', 'try-by-hand'],
  gives: [],
  async run(backend, taken) {
    await using world = await World.create(backend, {
      globalHooks: {
        'first.sh': taken('hook-first'),
        'second.sh': taken('hook-with-file'),
        'lib/settings.yaml': taken('config-first'),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['hello']);
    const finished = world.log.records.filter(({ msg }) => msg === 'hook finished');
    expect(finished.map(({ hook }) => hook)).toEqual(['first.sh', 'second.sh']);

    await world.write('modules', { '../examples': { link: join(projectRoot, 'examples') } });
    const { stdout } = await execa('sh', ['-ec', taken('try-by-hand')], { cwd: world.directory });
    expect(stdout).toContain('configVersion: v1');
    expect(await readFile(join(world.directory, 'patch'), 'utf8')).toContain('operation: CreateIfNotExists');
    return {};
  },
};
