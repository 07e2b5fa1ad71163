import { homedir } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm, pinnedKubectl } from '../../src/tools/pinned-tools/pinned-tools.ts';
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
