import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { startHookServer } from '../support/hook-server.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };

const settings = 'settings: {restartOnChange: true}';

function onStart(queue: string): string {
  return `kubernetes:
- name: maps
  kind: ConfigMap
  apiVersion: v1
  queue: ${queue}
  nameSelector: {matchNames: [start]}
  executeHookOnSynchronization: false`;
}

function hanging(config: string, pidFile: string): string {
  return shHook(config, `echo $$ > "$WORLD/${pidFile}"; exec sleep 600`);
}

async function pidIn(world: World, file: string): Promise<number> {
  return Number(await readFile(join(world.directory, file), 'utf8'));
}

describeApiIndependent((backend) => {
  describe('a hook file that is mended while the hook hangs', () => {
    test('is run at once with restartOnChange, in main and on every transport, and not without it', async () => {
      const closed: string[] = [];
      const server = (name: string) =>
        startHookServer((_body, _request, response) => {
          if (name === 'new') return {};
          response.on('close', () => closed.push(name));
          return 'answered';
        });
      await using old = await server('old');
      await using mended = await server('new');
      const request = (url: string): string =>
        `address: ${url}/\ntimeout: 10m\n${onStart('request')}\n${settings}\n`;
      const thread = (body: string): string => `import { defineHook } from 'addon-operator/sdk';
export default defineHook({ kubernetes: [{ name: 'maps', kind: 'ConfigMap', apiVersion: 'v1', queue: 'thread',
  nameSelector: { matchNames: ['start'] }, executeHookOnSynchronization: false }],
  settings: { restartOnChange: true } }, async () => { ${body} });
`;
      const queued = `${onStart('own')}\n${settings}`;
      const inMain = `${onStart('main')}\n${settings}`;
      await using world = await World.create(backend(), {
        flags: { 'watch-files': 'true' },
        globalHooks: {
          'queued.sh': hanging(queued, 'queued'),
          'main.sh': hanging(inMain, 'main'),
          'patient.sh': hanging(onStart('patient'), 'patient'),
          'thread.ts': thread('await new Promise(() => { setInterval(() => undefined, 1_000); });'),
          'request.http.yaml': request(old.url),
        },
      });
      await world.converge();
      await world.log.untilMessage('watching files for changes');
      await world.create('configmaps', { metadata: { name: 'start' } });
      const { running } = world.daemon.operator.execution;
      await vi.waitFor(async () => {
        expect(running.all).toHaveLength(5);
        for (const file of ['queued', 'main', 'patient']) expect(await pidIn(world, file)).toBeGreaterThan(0);
        expect(old.bodies).toHaveLength(1);
      }, WAIT);
      const pid = await pidIn(world, 'queued');

      await world.write('global-hooks', {
        'queued.sh': shHook(queued, 'echo "queued is mended"'),
        'main.sh': shHook(inMain, 'echo "main is mended"'),
        'patient.sh': shHook(onStart('patient'), 'echo "patient is mended"'),
        'thread.ts': thread('console.log("thread is mended");'),
        'request.http.yaml': request(mended.url),
      });
      await vi.waitFor(() => {
        expect(world.log.printed).toEqual(
          expect.arrayContaining(['queued is mended', 'main is mended', 'thread is mended']),
        );
        expect(mended.bodies).toHaveLength(1);
        expect(running.all.map(({ hook }) => hook.name)).toEqual(['patient.sh']);
      }, WAIT);
      await vi.waitFor(() => {
        expect(closed).toEqual(['old']);
        expect(() => process.kill(pid, 0)).toThrow('ESRCH');
      }, WAIT);
      expect(world.log.records.filter(({ level }) => level === 'error')).toEqual([]);
      expect(world.log.printed).not.toContain('patient is mended');
    });
  });
});
