import { existsSync, readdirSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { describe, expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import {
  colorOf,
  createSignedWorld,
  DNS,
  ON,
  REFUSED,
  reasonsOf,
  SAYS,
  WEB,
} from '../support/authorization-world.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { configMapChart, type FileTree, shHook, under } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const READY = 'ModuleRun success, module is ready';
const ENDED = 'ConvergeModules task done';
/** Lists where a module was refused, for which policy and why. */
const WATCHER = shHook(
  'afterAuthFail: 1',
  `tr -d '\\n' < "$BINDING_CONTEXT_PATH" | sed -E 's/.*"place": *"([a-z]+)".*/refused \\1/'; echo`,
);

/** Each way by which code or values of a module come in, as a mine. */
const MINES: FileTree = {
  ...under('003-mine', configMapChart('mine', 'mine')),
  '003-mine/values.yaml': '{ no: yaml',
  '003-mine/module.yaml': '{ no: yaml',
  '003-mine/openapi/values.yaml': '{ no: yaml',
  '003-mine/crds/crd.yaml': '{ no: yaml',
  '003-mine/enabled': `#!/bin/sh\ntouch "$WORLD/mine-enabled"\necho true > "$MODULE_ENABLED_RESULT"\n`,
  '003-mine/hooks/hook.sh': `#!/bin/sh\ntouch "$WORLD/mine-hook"\necho '{"configVersion":"v1","onStartup":1}'\n`,
  '003-mine/hooks/hook.mjs': `import { defineHook } from 'addon-operator/sdk';\nimport { writeFileSync } from 'node:fs';\nwriteFileSync(\`\${process.env.WORLD}/mine-script\`, '');\nexport default defineHook({ onStartup: 1 }, () => {});\n`,
  '003-mine/customizations/core/config-map.ts': `import { writeFileSync } from 'node:fs';\nwriteFileSync(\`\${process.env.WORLD}/mine-extension\`, '');\nexport default {};\n`,
};

async function explain(world: World, module: string): Promise<Record<string, unknown>> {
  const socketPath = `${world.directory}/debug.socket`;
  const { body } = await requestDebug({ socketPath, path: `/module/${module}/explain.json` }, systemClock);
  return JSON.parse(body) as Record<string, unknown>;
}

describeLifecycle((backend) => {
  describe('authorization', () => {
    test('the Module object of an unauthorized module shows the reason, and gets one Event', async () => {
      const name = `m${Array.from({ length: 8 }, () => 'abcdefghijklmnop'.charAt(Math.random() * 16)).join('')}`;
      const object = `/apis/addon-operator.io/v1alpha1/modules/${name}`;
      const { world: made } = await createSignedWorld(backend(), {
        modules: { [`001-${name}/hooks/hook.sh`]: SAYS(name) },
        config: { [`${name}Enabled`]: 'true' },
        flags: { 'module-objects': 'true' },
      });
      await using world = made;
      await world.converge();
      const reason = 'not authorized: it is not signed: there is no module.manifest in its directory';
      await vi.waitFor(async () => {
        const { body } = await world.backend.request({ path: object });
        expect(body).toMatchObject({
          status: {
            phase: 'Failed',
            conditions: [
              { type: 'Enabled', status: 'True', reason: 'Authorization', message: reason },
              { type: 'Ready', status: 'False', reason: 'Unauthorized', message: reason },
              { type: 'Reconciling', status: 'False' },
              { type: 'Drifted' },
              { type: 'Stalled', status: 'True', reason: 'Unauthorized', message: reason },
            ],
          },
        });
      }, WAIT);
      await world.stop();
      await world.converge();
      await world.stop();
      const { body } = await world.backend.request({
        path: `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D${name}`,
      });
      const { items } = body as { items: { reason: string; message: string; count: number }[] };
      expect(items.filter(({ reason: word }) => word === 'Unauthorized')).toMatchObject([
        { type: 'Warning', message: `The module is ${reason}`, count: 1 },
      ]);
      await world.backend.request({ method: 'DELETE', path: object });
    });

    test('the release of a module stays as it is while the module is not authorized', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), {
        modules: {
          ...WEB,
          '002-dns/module.yaml': 'requires: [{name: web}]\n',
          ...DNS,
        },
      });
      await using world = made;
      await signer.sign();
      await world.converge();
      await world.stop();
      await world.write('modules', { '001-web/values.yaml': 'web: {color: green}\n' });
      const helmCalls = (await world.helmCalls()).length;
      await world.converge();
      expect(await explain(world, 'web')).toMatchObject({
        status: 'unauthorized',
        isEnabled: true,
        reason: expect.stringContaining('so it is not changed: the content differs from what was signed'),
        release: { revision: 1, isOwned: true },
      });
      expect(await explain(world, 'dns')).toMatchObject({ status: 'ready' });
      await world.putConfig({ webEnabled: 'false', dnsEnabled: 'true' });
      await world.log.untilMessage(ENDED, 3);
      expect(await colorOf(world)).toBe('blue');
      const calls = (await world.helmCalls()).slice(helmCalls);
      expect(calls.filter((call) => /install|upgrade|uninstall|template/u.test(call))).toEqual([]);
      expect(world.log.printed.filter((line) => line === 'web afterDeleteHelm')).toEqual([]);
      await world.stop();
      await world.putConfig(ON);
      await signer.sign('web');
      await world.converge();
      expect(await colorOf(world)).toBe('green');
      expect(await explain(world, 'web')).toMatchObject({ status: 'ready', release: { revision: 2 } });
      await world.stop();
      const callsBefore = (await world.helmCalls()).length;
      await world.converge();
      expect((await world.helmCalls()).slice(callsBefore)).toEqual([]);
    });

    test('a module that lost its authorization since it was deployed is not deleted when it is disabled', async () => {
      await using world = await World.create(backend(), {
        modules: { ...WEB, ...DNS },
        config: ON,
        env: (directory) => ({ AUTH_POLICY: 'digest', AUTH_LOCK_FILE: join(directory, 'modules.lock') }),
      });
      expect(await runInWorld(world, 'module', 'digest', '--write', 'web', 'dns')).toMatchObject({
        exitCode: 0,
      });
      await world.converge();
      await rm(join(world.directory, 'modules.lock'));
      expect(await runInWorld(world, 'module', 'digest', '--write', 'dns')).toMatchObject({ exitCode: 0 });
      await world.putConfig({ ...ON, webEnabled: 'false' });
      await world.log.untilMessage(REFUSED);
      expect(reasonsOf(world)).toEqual([['web', expect.stringContaining('does not list it')]]);
      await world.daemon.operator.router.main.untilEmpty();
      expect(await explain(world, 'web')).toMatchObject({ status: 'unauthorized', release: { revision: 1 } });
      expect(await colorOf(world)).toBe('blue');
      expect(world.log.printed.filter((line) => line === 'web afterDeleteHelm')).toEqual([]);
    });
  });
});

describeApiIndependent((backend) => {
  describe('authorization', () => {
    test('nothing of an unsigned module is executed or read, and other modules continue', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), {
        globalHooks: { 'watcher.sh': WATCHER },
        modules: { ...WEB, ...DNS, ...MINES },
        config: { ...ON, mineEnabled: 'true', mine: 'color: red\n' },
      });
      await using world = made;
      await signer.sign('web', 'dns');
      await world.converge();
      await world.log.untilPrinted('refused manifest');
      expect(readdirSync(world.directory).filter((name) => name.startsWith('mine'))).toEqual([]);
      expect([await colorOf(world), await colorOf(world, 'mine')]).toEqual(['blue', 'absent']);
      expect(world.log.printed.filter((line) => !line.startsWith('refused'))).toEqual([
        'web onStartup',
        'web beforeHelm',
        'dns onStartup',
        'dns beforeHelm',
      ]);
      const reason = 'it is not signed: there is no module.manifest in its directory';
      expect(reasonsOf(world)).toEqual([['mine', reason]]);
      expect(await explain(world, 'mine')).toMatchObject({
        status: 'unauthorized',
        source: 'authorization',
        reason: `not authorized: ${reason}`,
        path: join(world.directory, 'modules', '003-mine'),
        failure: null,
      });
      const metrics = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
      expect(await metrics.text()).toContain('addon_operator_module_unauthorized{module="mine"} 1\n');
      const list = await runInWorld(world, 'module', 'list', '--all', '-o', 'text');
      expect(list.stdout).toMatch(/mine +unauthorized +yes +not authorized: it is not signed/u);
      const rendered = await runInWorld(world, 'module', 'render', 'mine');
      expect(rendered.stdout).toBe('');
      const plan = await runInWorld(world, 'plan', 'mine');
      expect(plan).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(`  mine: is not run  (not authorized: ${reason}`),
      });
      expect(readdirSync(world.directory).filter((name) => name.startsWith('mine'))).toEqual([]);
    });

    test('a module with a link to outside of it is rejected, even if it is signed', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), { modules: { ...WEB, ...DNS } });
      await using world = made;
      await signer.sign('web', 'dns');
      await world.write('modules', { '001-web/templates/out.yaml': { link: '../../002-dns/hooks/hook.sh' } });
      await world.converge();
      expect(reasonsOf(world)).toEqual([
        [
          'web',
          'templates/out.yaml is a link to ../../002-dns/hooks/hook.sh, outside of the module: copy its target into the module',
        ],
      ]);
      expect(await colorOf(world)).toBe('absent');
    });

    test('without a policy modules run directly from their directories', async () => {
      await using world = await World.create(backend(), { modules: WEB, config: ON });
      await world.converge();
      expect(existsSync(join(world.directory, 'tmp', 'modules'))).toBe(false);
      expect(world.daemon.operator.registry.modules.map(({ path }) => path)).toEqual([
        join(world.directory, 'modules', '001-web'),
      ]);
    });

    test('a module whose files change with --watch-files stops, and continues when it is signed again', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), {
        modules: {
          ...WEB,
          '001-web/hooks/tick.sh': shHook('schedule: [{crontab: "* * * * * *"}]', 'echo tick'),
        },
        flags: { 'watch-files': 'true' },
      });
      await using world = made;
      await signer.sign();
      await world.converge();
      await world.log.untilMessage('watching files for changes');
      await appendFile(join(world.directory, 'modules', '001-web', 'Chart.yaml'), '# changed\n');
      await world.log.untilMessage('files changed, loading hooks and modules again');
      world.clock.jump(1_000);
      await world.log.untilMessage(REFUSED);
      expect(reasonsOf(world)).toEqual([
        ['web', 'the content differs from what was signed: Chart.yaml was changed'],
      ]);
      expect(await explain(world, 'web')).toMatchObject({
        status: 'unauthorized',
        phase: 'Failed',
        step: 'not started',
      });
      await world.log.untilMessage(ENDED, 2);
      const before = world.log.printed.length;
      world.clock.jump(60_000);
      await world.putConfig({ ...ON, global: 'a: 1\n' });
      await world.log.untilMessage(ENDED, 3);
      expect(world.log.printed.slice(before)).toEqual([]);
      await signer.sign();
      await world.log.untilMessage(READY, 2);
      // The two files of the signature may have been noticed one after the other.
      await world.daemon.operator.router.main.untilEmpty();
      expect(await explain(world, 'web')).toMatchObject({ status: 'ready' });
    });

    test('hooks, scripts, schemas, links and extensions of a module use only the copy', async () => {
      const { world: made, signer } = await createSignedWorld(backend(), {
        globalHooks: { 'remove.sh': shHook('onStartup: 1', 'rm -r "$WORLD/modules/001-web"; echo removed') },
        modules: {
          ...WEB,
          '001-web/enabled':
            '#!/bin/sh\necho "asked in $(basename "$(dirname "$0")")"\necho true > "$MODULE_ENABLED_RESULT"\n',
          '001-web/openapi/values.yaml':
            'type: object\nproperties: {size: {type: string, default: large}, color: {type: string}}\n',
          '001-web/shared/word.ts': "export const word = 'from the copy';\n",
          '001-web/hooks/lib': { link: '../shared' },
          '001-web/hooks/script.ts': `import { defineHook } from 'addon-operator/sdk';
import { word } from './lib/word.ts';
export default defineHook({ afterHelm: 1 }, () => console.log(word));
`,
          '001-web/customizations/core/config-map.ts': `import { defineExtensions } from 'addon-operator/sdk';
export default defineExtensions({
  modifyManifest: async (object, next) => ({ ...(await next(object)), immutable: false }),
});
`,
        },
      });
      await using world = made;
      await signer.sign();
      await world.converge();
      expect(world.log.printed).toEqual([
        'removed',
        'asked in 001-web',
        'web onStartup',
        'web beforeHelm',
        'from the copy',
      ]);
      const map = (await world.get('configmaps', 'web')) as {
        data?: { values: string };
        immutable?: boolean;
      };
      expect(JSON.parse(map.data?.values ?? '')).toMatchObject({ color: 'blue', size: 'large' });
      expect(map.immutable).toBe(false);
    });

    test('a module that is replaced after its check does not run', async () => {
      const swap = shHook(
        'onStartup: 1',
        `
cd "$WORLD/modules/001-web"
sed -i 's/echo "web/echo "evil/' hooks/hook.sh
echo 'web: {color: red}' > values.yaml
sed -i 's/name: web/name: evil/' templates/config-map.yaml
printf '#!/bin/sh\\ntouch "$WORLD/mine-enabled"' > enabled && chmod +x enabled
echo swapped`,
      );
      const { world: made, signer } = await createSignedWorld(backend(), {
        globalHooks: { 'swap.sh': swap },
        modules: WEB,
      });
      await using world = made;
      await signer.sign();
      await world.converge();
      expect(world.log.printed).toEqual(['swapped', 'web onStartup', 'web beforeHelm']);
      expect([await colorOf(world), await colorOf(world, 'evil')]).toEqual(['blue', 'absent']);
      expect(existsSync(join(world.directory, 'mine-enabled'))).toBe(false);
    });

    test.each([
      ['a copy that was changed', 'echo >> "$(dirname "$0")/../added"', 'was changed after verification'],
      ['a key that was removed', ': > "$WORLD/keys"', 'there is no trusted key in'],
      [
        'a key that has expired',
        `sed -i 's/platform /platform valid-before="20200101Z" /' "$WORLD/keys"`,
        'of platform, which is only valid until 2020-01-01T00:00:00.000Z',
      ],
    ])('%s stops a deployment when it is about to be applied', async (_what, body, reason) => {
      const { world: made, signer } = await createSignedWorld(backend(), {
        globalHooks: { 'watcher.sh': WATCHER },
        modules: { ...WEB, ...DNS, '001-web/hooks/spoil.sh': shHook('beforeHelm: 2', body) },
      });
      await using world = made;
      await signer.sign();
      await world.converge();
      expect(await colorOf(world)).toBe('absent');
      expect(world.log.printed).toEqual([
        'web onStartup',
        'web beforeHelm',
        'refused installation',
        'dns onStartup',
        'dns beforeHelm',
      ]);
      const [failure] = world.log.records.filter(({ msg }) =>
        String(msg).startsWith('ModuleRun failed permanently'),
      );
      expect(failure).toMatchObject({ module: 'web', error: expect.stringContaining(reason) });
    });

    test('only modules with the content that the lock file lists run', async () => {
      await using world = await World.create(backend(), {
        globalHooks: { 'watcher.sh': WATCHER },
        modules: { ...WEB, ...DNS },
        config: ON,
        env: (directory) => ({ AUTH_POLICY: 'digest', AUTH_LOCK_FILE: join(directory, 'modules.lock') }),
      });
      expect(await runInWorld(world, 'module', 'digest', '--write', 'web')).toMatchObject({ exitCode: 0 });
      await world.converge();
      await world.log.untilPrinted('refused manifest');
      expect(await colorOf(world)).toBe('blue');
      expect(reasonsOf(world)).toEqual([['dns', expect.stringContaining('does not list it')]]);
      await world.stop();
      await rm(join(world.directory, 'modules.lock'));
      await world.converge();
      expect(reasonsOf(world).slice(1)).toEqual(
        ['web', 'dns'].map((name) => [name, expect.stringContaining('the lock file cannot be used: ENOENT')]),
      );
      expect(await colorOf(world)).toBe('blue');
    });
  });
});
