import { homedir } from 'node:os';
import { pinnedHelm, pinnedKubectl } from '@addon-operator/pinned-tools';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';
import { beforeAll, describe, expect, test } from 'vitest';
import { COMMAND_SCENARIOS } from './command-scenarios.ts';
import type { TerminalPrograms } from './terminal.ts';

describe('commands of the pages for users', () => {
  let programs: TerminalPrograms = { helm: '', kubectl: '' };
  beforeAll(async () => {
    const options = { cacheDir: cacheDirectory(process.env, homedir()) };
    const { signal } = new AbortController();
    programs = {
      helm: await pinnedHelm(3, options, signal),
      kubectl: await pinnedKubectl(options, signal),
    };
  });

  test.each(COMMAND_SCENARIOS)('$title', { timeout: 180_000 }, async (scenario) => {
    expect(await scenario.run(programs)).toEqual(scenario.runs);
  });
});
