import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { describe, expect, test, vi } from 'vitest';
import { requestDebug } from '../../src/server/debug-client.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { rejection } from '../support/rejection.ts';
import { type Backend, World, type WorldOptions } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, type FileTree, under, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
const TEN_MINUTES_MS = 600_000;

const WEB: FileTree = {
  'values.yaml': 'webEnabled: true\n',
  ...under('001-web', configMapChart('web', 'web')),
};

/** A file of flow hooks. Each argument of `said` is a line of a file. */
function flowFile(registrations: string): string {
  return `import { appendFileSync, existsSync } from 'node:fs';
import { defineFlowHooks } from 'addon-operator/sdk';
const said = (text) => appendFileSync(process.env.WORLD + '/said', text + '\\n');
const isThere = (name) => existsSync(process.env.WORLD + '/' + name);
export default defineFlowHooks((hooks) => {
  ${registrations}
});
`;
}

/** Writes down where it is called. */
const EVERYWHERE = `const TYPES = ['Start', 'DuringResponsibilityCheck', 'AfterResponsibilityCheck', 'ShouldReconcile',
    'BeforeAnyReconcile', 'BeforeAbort', 'BeforeForceReconcile', 'BeforeDelete', 'BeforeReconcile', 'End'];
  hooks.registerHook(({ type, module, target }) => said([type, module?.name, target?.namespace].join(' ').trim()), ...TYPES);`;

async function worldOf(
  backend: Backend,
  flowHooks: FileTree,
  options: WorldOptions = { modules: WEB },
): Promise<World> {
  const world = await World.create(backend, options);
  await writeTree(join(world.directory, 'flow-hooks'), flowHooks);
  return world;
}

async function said(world: World): Promise<readonly string[]> {
  const text = await readFile(join(world.directory, 'said'), 'utf8').catch(() => '');
  return text.replaceAll(world.namespace, 'NS').split('\n').filter(Boolean);
}

async function untilSaid(world: World, line: string): Promise<void> {
  await vi.waitFor(async () => expect(await said(world)).toContain(line), WAIT);
}

async function ask(world: World, path: string, form: Readonly<Record<string, string>>) {
  return requestDebug({ socketPath: join(world.directory, 'debug.socket'), path, form }, systemClock);
}

async function upgrades(world: World): Promise<number> {
  return (await world.helmCalls()).filter((call) => call.startsWith('upgrade')).length;
}

const TO_STEP = [
  'Start',
  'DuringResponsibilityCheck web NS',
  'AfterResponsibilityCheck web NS',
  'ShouldReconcile web NS',
  'BeforeAnyReconcile web NS',
];

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: logging, namespace: {{ .Release.Namespace }}}
spec:
  replicas: 2
  selector: {matchLabels: {app: logging}}
  template:
    metadata: {labels: {app: logging}}
    spec: {containers: [{name: main, image: none.invalid/none}]}
`;

function loggingModule(reconcileEvery: string): FileTree {
  return {
    'values.yaml': 'loggingEnabled: true\nwebEnabled: true\n',
    '001-logging/Chart.yaml': 'apiVersion: v2\nname: logging\nversion: 0.1.0\n',
    '001-logging/templates/deployment.yaml': DEPLOYMENT,
    '001-logging/module.yaml': `reconcileEvery: ${reconcileEvery}\n`,
    ...under('002-web', configMapChart('web', 'web')),
  };
}

function deploymentPath(world: World): string {
  return `/apis/apps/v1/namespaces/${world.namespace}/deployments/logging`;
}

async function replicas(world: World): Promise<unknown> {
  const object = (await world.expect({ path: deploymentPath(world) })) as { spec: { replicas: number } };
  return object.spec.replicas;
}

/** As `kubectl scale --replicas=0` does. */
async function scaleToZero(world: World): Promise<void> {
  await world.expect({
    method: 'PATCH',
    path: `${deploymentPath(world)}?fieldManager=kubectl`,
    contentType: 'application/merge-patch+json',
    body: { spec: { replicas: 0 } },
  });
  expect(await replicas(world)).toBe(0);
}

/** Reconcile flow hooks and continuous reconcile, on a daemon with real helm. */
describeLifecycle((backend) => {
  describe('a flow hook', () => {
    test('is called at its places of each run, forced run, abort and deletion', async () => {
      await using world = await worldOf(
        backend(),
        { 'say.ts': flowFile(EVERYWHERE) },
        { modules: WEB, config: {} },
      );
      await world.converge();
      expect(await said(world)).toEqual([...TO_STEP, 'BeforeReconcile web NS', 'End web NS']);
      await ask(world, '/module/web/operation', { operation: 'force-reconcile' });
      await untilSaid(world, 'BeforeForceReconcile web NS');
      await world.log.untilMessage('ModuleRun success, module is ready', 2);
      expect(await upgrades(world)).toBe(2);
      await ask(world, '/module/web/operation', { operation: 'abort' });
      await untilSaid(world, 'BeforeAbort web NS');
      await world.putConfig({ webEnabled: 'false' });
      await untilSaid(world, 'BeforeDelete web NS');
      await vi.waitFor(async () => expect((await said(world)).at(-1)).toBe('End web NS'), WAIT);
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      expect((await said(world)).filter((line) => line.startsWith('Before'))).toEqual(
        ['Reconcile', 'ForceReconcile', 'Abort', 'Delete'].flatMap((step) => [
          'BeforeAnyReconcile web NS',
          `Before${step} web NS`,
        ]),
      );
    });
  });

  describe('reconcileEvery', () => {
    test('restores within its interval a workload that was scaled to zero, and does not affect other modules', async () => {
      await using world = await World.create(backend(), { modules: loggingModule('10m') });
      await world.converge();
      expect(await upgrades(world)).toBe(2);
      const socketPath = join(world.directory, 'debug.socket');
      const { body } = await requestDebug({ socketPath, path: '/module/logging/explain.text' }, systemClock);
      expect(body).toMatch(/^next run +\d{4}-\d{2}-\d{2}T/m);
      for (const round of [1, 2]) {
        await scaleToZero(world);
        await world.clock.passSleep(TEN_MINUTES_MS);
        await vi.waitFor(async () => expect(await replicas(world)).toBe(2), WAIT);
        await world.log.untilMessage('ModuleRun success, module is ready', 2 + round);
        expect(await upgrades(world)).toBe(2 + round);
      }
    });
  });
});

describeApiIndependent((backend) => {
  describe('a flow hook', () => {
    test('can defer a run, and the requested run happens in time', async () => {
      await using world = await worldOf(backend(), {
        'window.ts': flowFile(`hooks.registerHook(
          () => (isThere('open') ? undefined : { abortReconcile: true, requeueAfterMs: ${TEN_MINUTES_MS} }),
          'BeforeReconcile',
        );`),
      });
      await world.converge();
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      await writeTree(world.directory, { open: '' });
      await world.clock.passSleep(TEN_MINUTES_MS);
      await vi.waitFor(async () => expect(await world.get('configmaps', 'web')).toBeDefined(), WAIT);
    });

    test('that fails ends the reconcile with its error, and the module is retried', async () => {
      await using world = await worldOf(backend(), {
        'guard.ts': flowFile(`hooks.registerHook(({ module }) => {
          if (!isThere('open')) throw new Error('not for ' + module.name);
        }, 'BeforeAnyReconcile');`),
      });
      await world.start();
      await world.untilDelayed();
      const { lastError } = world.daemon.operator.router.main.entries[0] ?? {};
      expect(lastError).toMatch(/not for web/);
      expect(lastError).toMatch(/the flow hook at BeforeAnyReconcile in '.*guard\.ts' failed/);
      await writeTree(world.directory, { open: '' });
      await world.passDelay();
      await world.daemon.firstConverge;
      expect(await world.get('configmaps', 'web')).toBeDefined();
    });

    test('is not called when there is none, and without a directory nothing is loaded', async () => {
      await using world = await World.create(backend(), { modules: WEB });
      await world.converge();
      expect(world.daemon.built.modules.extensions.flow()).toBeUndefined();
    });
  });

  describe('a file of flow hooks that', () => {
    test.each([
      ['does not load', 'export default 1 +;', /bad\.ts/],
      ['throws at load', 'throw new Error("no key");', /bad\.ts.*no key/],
      ['exports something else', 'export default {};', /bad\.ts/],
      [
        'registers at a place that does not exist',
        flowFile(`hooks.registerHook(() => {}, 'Lunch');`),
        /unknown type "Lunch"/,
      ],
      ['registers later', flowFile('return Promise.resolve();'), /not by an async function/],
    ])('%s stops the start, named', async (_name, text, message) => {
      await using world = await worldOf(backend(), { 'bad.ts': text });
      const reported = await rejection(world.start());
      expect(reported).toMatch(message);
      expect(reported).toContain(join(world.directory, 'flow-hooks/bad.ts'));
    });

    test.each([
      ['returns garbage', `() => ({ abort: true })`, /returned an object with the unknown key abort/],
      ['returns what is no JSON', `() => ({ requeueAfterMs: () => 5 })`, /requeueAfterMs/],
      ['ends its thread', '() => process.exit(3)', /bad\.ts/],
      [
        'registers after the start',
        `() => { kept.registerHook(() => {}, 'Start'); }`,
        /only while their file is loaded/,
      ],
    ])('%s fails the reconcile, named', async (_name, hook, message) => {
      await using world = await worldOf(backend(), {
        'bad.ts': flowFile(`const kept = hooks; hooks.registerHook(${hook}, 'ShouldReconcile');`),
      });
      await world.start();
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(message);
    });

    test('hangs is ended after a while, and the module is retried', async () => {
      await using world = await worldOf(backend(), {
        'bad.ts': flowFile(`hooks.registerHook(() => {
          if (!isThere('open')) { said('hangs'); return new Promise(() => {}); }
        }, 'BeforeReconcile');`),
      });
      await world.start();
      await untilSaid(world, 'hangs');
      world.clock.jump(TEN_MINUTES_MS);
      await world.untilDelayed();
      expect(world.daemon.operator.router.main.entries[0]?.lastError).toMatch(/bad\.ts/);
      await writeTree(world.directory, { open: '' });
      await world.passDelay();
      await world.daemon.firstConverge;
    });
  });

  describe('reconcileEvery', () => {
    test('of a disabled module ends with it', async () => {
      await using world = await World.create(backend(), { modules: loggingModule('10m'), config: {} });
      await world.converge();
      await world.putConfig({ loggingEnabled: 'false' });
      await world.log.untilMessage('ModuleDelete success, module is deleted');
      const before = (await world.helmCalls()).length;
      world.clock.jump(2 * TEN_MINUTES_MS);
      await ask(world, '/module/web/operation', { operation: 'reconcile' });
      await world.log.untilMessage('ModuleRun success, module is ready', 3);
      expect((await world.helmCalls()).slice(before).filter((call) => call.includes('logging'))).toEqual([]);
    });

    test('that is invalid holds its module, and status names the file and the allowed forms', async () => {
      for (const [text, message] of [
        [
          'often',
          /001-logging\/module\.yaml: reconcileEvery: expected a duration of at least 1s such as 10m/,
        ],
        ['"99 * * * *"', /001-logging\/module\.yaml: reconcileEvery: Cannot use crontab "99 \* \* \* \*"/],
      ] as const) {
        await using world = await World.create(backend(), { modules: loggingModule(text) });
        await world.converge();
        const { exitCode, stdout } = await runInWorld(world, 'status');
        expect(exitCode).toBe(1);
        expect(stdout).toMatch(message);
        expect(await world.helmCalls()).toEqual([expect.stringMatching(/^upgrade .* web /)]);
      }
    });
  });

  test('a module that failed permanently is listed with the reason, and runs again when its values change', async () => {
    await using world = await worldOf(
      backend(),
      {},
      {
        modules: { ...WEB, '001-web/hooks/say.sh': announcer('web', { afterHelm: 1 }) },
        config: {},
        flags: { 'fatal-deploy-errors': 'stop' },
      },
    );
    await world.write('modules', {
      '001-web/templates/bad.yaml':
        '{{ if not .Values.web.good }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not A Name}\n{{ end }}\n',
    });
    await world.converge();
    const socketPath = join(world.directory, 'debug.socket');
    const { body } = await requestDebug({ socketPath, path: '/module/web/explain.text' }, systemClock);
    expect(body).toMatch(/^status +failing$/m);
    expect(body).toMatch(/^attempts +not retried until its values, .* or a run is requested$/m);
    await world.putConfig({ web: 'good: true' });
    await world.log.untilPrinted('web afterHelm');
  });
});
