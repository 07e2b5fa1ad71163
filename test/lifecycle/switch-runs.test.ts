import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { moduleWorld, uniqueName } from '../support/module-world.ts';
import {
  addVersion,
  lookAtFiles,
  storeWorld,
  untilLive,
  writeVersion,
} from '../support/store/store-world.ts';
import type { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const DAY_MS = 24 * 3_600_000;

/** Hooks of a version in the queue `slow`: `long` runs until `go` exists or it is ended, `daily` waits behind it. */
function slowHooks(version: string) {
  const note = (what: string): string => `echo "${version} ${what}" >> "$WORLD/slow"`;
  return {
    'hooks/long.sh': shHook(
      'kubernetes:\n- {name: e, kind: ConfigMap, queue: slow, nameSelector: {matchNames: [go]}}',
      `jq -e '.[0].type == "Synchronization"' "$BINDING_CONTEXT_PATH" > /dev/null && ${note('synchronized')} && exit 0
${note('begins')}
trap '${note('is ended')}; exit 1' TERM
while [ ! -e "$WORLD/finish" ]; do sleep 0.05; done
${note('ends')}`,
    ),
    'hooks/daily.sh': shHook('schedule:\n- {name: daily, crontab: "0 12 * * *", queue: slow}', note('daily')),
  };
}

async function slowRuns(world: World): Promise<readonly string[]> {
  return (await readFile(join(world.directory, 'slow'), 'utf8').catch(() => '')).trim().split('\n');
}

describeApiIndependent((backend) => {
  test('runs of the old version end before a hook of the new one begins, which serves the ticks that waited', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0', slowHooks('1.0.0'));
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await world.create('configmaps', { metadata: { name: 'go' } });
    await vi.waitFor(async () => expect(await slowRuns(world)).toContain('1.0.0 begins'), WAIT);
    world.clock.jump(DAY_MS);
    await addVersion(world, name, '1.1.0', slowHooks('1.1.0'));
    await untilLive(world, name, '1.1.0');
    await lookAtFiles(world, async () => expect(await slowRuns(world)).toContain('1.1.0 daily'));
    const lines = (await slowRuns(world)).filter((line) => !line.endsWith('synchronized'));
    expect(lines).toEqual(['1.0.0 begins', '1.0.0 is ended', '1.1.0 daily']);
    expect((await slowRuns(world)).indexOf('1.1.0 synchronized')).toBeGreaterThan(
      (await slowRuns(world)).indexOf('1.0.0 is ended'),
    );
  });

  test('a tick that waited is dropped with a record if the new version has no such schedule', async () => {
    const name = uniqueName();
    await using made = await storeWorld(backend(), [name]);
    const { world } = made;
    await addVersion(world, name, '1.0.0', slowHooks('1.0.0'));
    await world.converge();
    await untilLive(world, name, '1.0.0');
    await world.create('configmaps', { metadata: { name: 'go' } });
    await vi.waitFor(async () => expect(await slowRuns(world)).toContain('1.0.0 begins'), WAIT);
    world.clock.jump(DAY_MS);
    await addVersion(world, name, '1.1.0');
    await untilLive(world, name, '1.1.0');
    await writeFile(join(world.directory, 'finish'), '');
    await vi.waitFor(() => {
      expect(world.log.records).toContainEqual(
        expect.objectContaining({
          msg: expect.stringContaining('tick of a schedule is dropped'),
          binding: 'daily',
        }),
      );
    }, WAIT);
  });

  test('runs of a module whose hooks are edited end before the new ones begin, which serve the ticks that waited', async () => {
    const name = uniqueName();
    await using made = await moduleWorld(backend(), { flags: { 'watch-files': 'true' } }, [name]);
    const { world } = made;
    const directory = join(world.directory, 'modules', `010-${name}`);
    await writeVersion(directory, name, '1.0.0', slowHooks('1.0.0'));
    await world.converge();
    await world.log.untilMessage('watching files for changes');
    await untilLive(world, name, '1.0.0');
    await world.create('configmaps', { metadata: { name: 'go' } });
    await vi.waitFor(async () => expect(await slowRuns(world)).toContain('1.0.0 begins'), WAIT);
    world.clock.jump(DAY_MS);
    const more = { 'hooks/more.sh': shHook('afterHelm: 1', 'true') };
    await writeVersion(directory, name, '1.1.0', { ...slowHooks('1.1.0'), ...more });
    await untilLive(world, name, '1.1.0');
    await vi.waitFor(async () => expect(await slowRuns(world)).toContain('1.1.0 daily'), WAIT);
    const lines = (await slowRuns(world)).filter((line) => !line.endsWith('synchronized'));
    expect(lines).toEqual(['1.0.0 begins', '1.0.0 is ended', '1.1.0 daily']);
    expect((await slowRuns(world)).indexOf('1.1.0 synchronized')).toBeGreaterThan(
      (await slowRuns(world)).indexOf('1.0.0 is ended'),
    );
  });
});
