import { expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };

/** Seconds pass between two requests. */
function withoutCountdown(text: unknown): string {
  return String(text).replaceAll(/waits \d+ s/gu, 'waits');
}

/** Each situation that holds the operator up has one sentence, the same wherever the operator says how it is. */
describeApiIndependent((backend) => {
  async function said(world: World): Promise<Readonly<Record<string, unknown>>> {
    const base = `http://127.0.0.1:${world.daemon.httpPort}`;
    const status = (await (await fetch(`${base}/status?output=json`)).json()) as Readonly<
      Record<string, unknown>
    >;
    const text = await (await fetch(`${base}/status`)).text();
    const verbose = await (await fetch(`${base}/readyz?verbose`)).text();
    expect(withoutCountdown(text.split('\n')[0])).toBe(withoutCountdown(status['text']));
    expect(withoutCountdown(verbose)).toContain(`\n${withoutCountdown(text)}`);
    return status;
  }

  test('the status names a global hook, an enabled script and a module hook that fail, until they succeed', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'a.sh': shHook('onStartup: 1', '[ -e "$WORLD/mended-global" ] || { echo no network; exit 1; } >&2'),
      },
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/enabled':
          '#!/bin/sh\n[ -e "$WORLD/mended-enabled" ] && echo true > "$MODULE_ENABLED_RESULT"\n',
        '001-web/hooks/hook.sh': shHook(
          'beforeHelm: 1',
          '[ -e "$WORLD/mended-module" ] || { echo no disk; exit 1; } >&2',
        ),
      },
    });
    await world.start();
    const mend = async (file: string): Promise<void> => {
      await world.write('modules', { [`../mended-${file}`]: '' });
      await world.passDelay();
    };
    // An attempt may be in progress: delays end by themselves too.
    const untilText = (text: RegExp): Promise<void> =>
      vi.waitFor(async () => expect((await said(world))['text']).toMatch(text), WAIT);
    await world.untilDelayed();
    await untilText(/^queue main waits \d+ s to try GlobalHookRun a\.sh again .*no network/);
    await mend('global');
    await world.log.untilMessage('ConvergeModules failed, requeue task to retry after delay.');
    await world.untilDelayed();
    await untilText(
      /^queue main waits \d+ s to try ConvergeModules again .*enabled script of module 'web' failed/,
    );
    await mend('enabled');
    await world.log.untilMessage('ModuleRun failed. Requeue task to retry after delay.');
    await world.untilDelayed();
    await untilText(/^queue main waits \d+ s to try ModuleRun web again .*no disk/);
    await mend('module');
    await world.daemon.firstConverge;
    await world.daemon.operator.router.main.untilEmpty();
    expect(await said(world)).toMatchObject({
      level: 'well',
      text: 'all is well: 1 module ready, nothing to do',
    });
  });
});
