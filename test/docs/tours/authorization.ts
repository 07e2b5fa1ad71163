import { expect } from 'vitest';
import type { CommandScenario } from '../command-scenario.ts';
import { Terminal } from '../terminal.ts';

/** What `module verify` says of the starter modules. */
const ALL = /^(?:[a-z-]+: authorized, sha256:[0-9a-f]{64}(?:\n|$)){3}/m;

export const authorizationTour: CommandScenario = {
  title: 'modules that are listed and signed',
  runs: ['auth-digest', 'auth-sign', 'auth-ssh-keygen'],
  async run(programs) {
    const terminal = await Terminal.open(programs);
    await terminal.paste('auth-digest', ALL);
    await terminal.paste('auth-sign', ALL);
    await terminal.paste('auth-ssh-keygen');
    const verify = 'bin/addon-operator module verify --auth-policy keyring --auth-keyring release-key.pub';
    expect(await terminal.run(verify)).toMatch(ALL);
    const converge = 'bin/addon-operator sandbox --exit-after-converge --reset --auth-policy keyring';
    const output = await terminal.run(`${converge} --auth-keyring release-key.pub`);
    expect(output).toMatch(/^ {2}web +0\.1\.0 +1 /m);
    return terminal.taken;
  },
};
