import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend } from '../../support/world.ts';
import { expectNamespaceLines } from './102-monitor-namespaces.ts';
import { hookSetWorld, requireTools } from './catalogue-world.ts';

export function advancedTests(backend: () => Backend): void {
  test(
    '200-advanced: hooks in nested directories run by their order at start, then by events and the clock',
    apiIndependent,
    async (context) => {
      requireTools(context, 'bash', 'jq');
      await using world = await hookSetWorld(backend(), '200-advanced');
      await world.converge();
      expect(world.log.printed.slice(0, 4)).toEqual([
        '007-onstartup-2 hook is triggered',
        'namespace-hook is triggered on startup.',
        '001-onstartup-10 hook is triggered',
        'Got Synchronization event',
      ]);
      await expectNamespaceLines(world);
      world.clock.jump(900_000);
      await world.log.untilPrinted('Message from Schedule hook!');
    },
  );
}
