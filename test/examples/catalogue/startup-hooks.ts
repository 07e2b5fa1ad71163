import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend } from '../../support/world.ts';
import { hookSetWorld, requireTools } from './catalogue-world.ts';

export function startupHooksTests(backend: () => Backend): void {
  test.for<readonly [name: string, tool: string, line: string]>([
    ['001-startup-shell', 'bash', 'OnStartup shell hook'],
    ['002-startup-python', 'python3', 'OnStartup Python powered hook'],
    ['202-repack-build', 'bash', 'OnStartup shell hook'],
  ])(
    '%s: the hook, which needs %s, runs once at start',
    apiIndependent,
    async ([name, tool, line], context) => {
      requireTools(context, tool);
      await using world = await hookSetWorld(backend(), name);
      await world.converge();
      expect(world.log.printed).toEqual([line]);
    },
  );

  test(
    '003-common-library: hooks share functions, and the file that holds them is no hook',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash');
      await using world = await hookSetWorld(backend(), '003-common-library');
      await world.converge();
      expect(world.log.printed).toEqual(['hook::trigger function is called!']);
      expect(world.log.records.filter(({ level }) => level === 'warn')).toEqual([]);
    },
  );
}
