import { homedir } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import { cacheDirectory } from '../../src/tools/cache-directory.ts';
import { pinnedHelm } from '../../src/tools/pinned-tools.ts';
import { COMMAND_SCENARIOS } from './command-scenarios.ts';

describe('commands of the pages for users', () => {
  let helmPath = '';
  beforeAll(async () => {
    const cacheDir = cacheDirectory(process.env, homedir());
    helmPath = await pinnedHelm(3, { cacheDir }, new AbortController().signal);
  });

  test.each(COMMAND_SCENARIOS)('$title', { timeout: 180_000 }, async (scenario) => {
    expect(await scenario.run(helmPath)).toEqual(scenario.runs);
  });
});
