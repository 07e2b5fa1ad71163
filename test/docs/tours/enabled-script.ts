import { expect } from 'vitest';
import type { CommandScenario } from '../command-scenario.ts';
import { Terminal } from '../terminal.ts';

export const enabledScriptTour: CommandScenario = {
  title: 'the script that decides whether a module is enabled',
  runs: ['enabled-script'],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    const converge = 'bin/addon-operator sandbox --exit-after-converge --reset';
    await terminal.write('modules/030-web/enabled', terminal.take('enabled-script'));
    expect(await terminal.run(converge)).toMatch(/^ {2}web +0\.1\.0 +1 /m);
    await terminal.run("sed -i.before 's/profile: full/profile: minimal/' modules/values.yaml");
    const output = await terminal.run(converge);
    expect(output).not.toMatch(/^ {2}web +0\.1\.0/m);
    expect(await terminal.run('cat .sandbox/daemon.log')).toContain('global.profile is minimal');
    return terminal.taken;
  },
};
