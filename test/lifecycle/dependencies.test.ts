import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { explainWhy } from '../../src/views/explain-why.ts';
import { describeApiIndependent, describeLifecycle } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { runInWorld } from '../support/world-command.ts';
import { announcer, configMapChart, under } from '../support/world-files.ts';

const SAYS = (module: string) => announcer(module, { beforeHelm: 1, afterDeleteHelm: 1 });

const WEB_OF_DECKHOUSE = `name: shop
weight: 920
stage: Preview
descriptions: {en: Serves pages.}
tags: [demo]
accessibility: {editions: {_default: {available: true}}}
requirements:
  deckhouse: ">= 1.69"
  kubernetes: ">= 1.20"
  modules: {db: ">= 1.0, != 1.4.0", prometheus: ">= 1 !optional"}
colour: red
`;

describeLifecycle((backend) => {
  test('an orphaned module keeps its release, and a protected one stays enabled', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'freeEnabled: true\nsafeEnabled: true\n',
        ...under('001-free', configMapChart('free', 'free')),
        '001-free/hooks/hook.sh': SAYS('free'),
        '001-free/module.yaml': 'deletionPolicy: orphan\n',
        ...under('002-safe', configMapChart('safe', 'safe')),
        '002-safe/hooks/hook.sh': SAYS('safe'),
        '002-safe/module.yaml': 'deletionPolicy: protect\n',
      },
      config: {},
    });
    await world.converge();
    await world.putConfig({ freeEnabled: 'false', safeEnabled: 'false' });
    await world.log.untilMessage('Module is protected and stays enabled');
    await world.log.untilPrinted('safe beforeHelm', 2);
    expect(world.log.printed).toEqual(['free beforeHelm', 'safe beforeHelm', 'safe beforeHelm']);
    expect(world.daemon.operator.registry.enabled).toEqual(['safe']);
    expect(await world.get('configmaps', 'free')).toBeDefined();
    await world.stop();
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['safe']);
    expect(await world.get('configmaps', 'free')).toBeDefined();
    expect(await world.get('configmaps', 'safe')).toBeDefined();
    await world.putConfig({ safeEnabled: 'false' });
    await world.log.untilPrinted('free beforeHelm', 2);
    await world.stop();
    await rm(`${world.directory}/modules/002-safe`, { recursive: true });
    await world.converge();
    await world.log.untilMessage(
      'Releases without a module are kept because of the deletionPolicy of their modules',
    );
    await world.daemon.operator.router.main.untilEmpty();
    expect(await world.get('configmaps', 'safe')).toBeDefined();
    await world.stop();
    await world.write('modules', {
      ...under('002-safe', configMapChart('safe', 'safe')),
      '002-safe/module.yaml': 'deletionPolicy: delete\n',
      'values.yaml': 'freeEnabled: true\nsafeEnabled: true\n',
    });
    await world.putConfig({});
    await world.converge();
    await world.putConfig({ safeEnabled: 'false' });
    await world.log.untilMessage('ModuleDelete success, module is deleted');
    expect(await world.get('configmaps', 'safe')).toBeUndefined();
  });
});

describeApiIndependent((backend) => {
  test('a module runs after the modules it requires, with any order number', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\ndbEnabled: true\ndnsEnabled: true\n',
        '001-web/hooks/hook.sh': SAYS('web'),
        '001-web/module.yaml': 'requires:\n- name: db\n- name: cache\n  optional: true\n',
        '010-dns/hooks/hook.sh': SAYS('dns'),
        '050-db/hooks/hook.sh': SAYS('db'),
      },
      config: {},
    });
    await world.converge();
    expect(world.log.printed).toEqual(['dns beforeHelm', 'db beforeHelm', 'web beforeHelm']);
    await world.putConfig({ dbEnabled: 'false' });
    await world.log.untilPrinted('db afterDeleteHelm');
    expect(world.log.printed.slice(3, 5)).toEqual(['web afterDeleteHelm', 'db afterDeleteHelm']);
    expect(world.daemon.operator.registry.discovery?.decisions.get('web' as never)).toEqual({
      isEnabled: false,
      source: 'requirement',
      reason: 'requires module db, which is disabled',
    });
    await world.putConfig({});
    await world.log.untilPrinted('web beforeHelm', 2);
  });

  test('a module is not enabled when a required module is missing or has another version', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'aEnabled: true\nbEnabled: true\ncEnabled: true\ndEnabled: true\nlibEnabled: true\n',
        ...under('001-lib', configMapChart('lib', 'lib')),
        '002-a/hooks/hook.sh': SAYS('a'),
        '002-a/module.yaml': 'requires: [{name: nothing}]\n',
        '002-b/hooks/hook.sh': SAYS('b'),
        '002-b/module.yaml': 'requires: [{name: lib, version: ">=0.2"}]\n',
        '002-c/hooks/hook.sh': SAYS('c'),
        '002-c/module.yaml': 'version: "2.1.0"\nrequires: [{name: lib, version: ~0.1.0}]\n',
        '002-d/hooks/hook.sh': SAYS('d'),
        '002-d/module.yaml': 'requires: [{name: c, version: 2.x}]\n',
      },
    });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['lib', 'c', 'd']);
    const reason = (name: string) =>
      world.daemon.operator.registry.discovery?.decisions.get(name as never)?.reason;
    expect(reason('a')).toBe('requires module nothing, which does not exist');
    expect(reason('b')).toBe('requires module lib in version >=0.2, but it has version 0.1.0');
    const said = await runInWorld(world, 'status');
    expect(said.stdout).toMatch(/^module a is disabled: requires module nothing, which does not exist$/mu);
    expect([said.exitCode, (await runInWorld(world, 'status', '--strict')).exitCode]).toEqual([0, 2]);
    expect((await runInWorld(world, 'status', '-o', 'name')).stdout).toBe('notice\n');
    const explained = explainWhy(world.daemon.operator, 'b', []);
    expect(explained?.why?.children.find(({ id }) => id === 'requirements')).toMatchObject({
      ok: false,
      remedy: 'install module lib in version >=0.2, or change the range in the module.yaml of module b',
      children: [{ id: 'lib', ok: false, text: reason('b') }],
    });
  });

  test('the start fails with the path of a requirement cycle', async () => {
    await using cycle = await World.create(backend(), {
      modules: {
        'one/module.yaml': 'requires: [{name: two}]\n',
        'two/module.yaml': 'requires: [{name: one, optional: true}]\n',
      },
    });
    await expect(cycle.start()).rejects.toThrow('cycle: one -> two -> one');
  });

  test('a module.yaml with mistakes concerns its module alone, and all mistakes are named', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
        '001-web/module.yaml': 'requires: db\ndeletionPolicy: keep\n',
        '001-web/hooks/hook.sh': SAYS('web'),
        '002-db/hooks/hook.sh': SAYS('db'),
      },
    });
    await world.converge();
    const { exitCode, stdout } = await runInWorld(world, 'status');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /module web is held: .*001-web\/module\.yaml: requires: expected a list.*deletionPolicy: .*correct the file/s,
    );
    expect(stdout).toContain('modules: 1 held, 1 ready');
  });

  test('a module.yaml written for Deckhouse orders modules and names what they require, with one warning', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\ndbEnabled: true\noldEnabled: true\ncacheEnabled: true\n',
        'web/module.yaml': WEB_OF_DECKHOUSE,
        'web/hooks/hook.sh': SAYS('web'),
        'cache/module.yaml': 'name: cache\nweight: 910\n',
        'cache/hooks/hook.sh': SAYS('cache'),
        '005-db/module.yaml': 'name: db\nweight: 1\nversion: "1.5.0"\n',
        '005-db/hooks/hook.sh': SAYS('db'),
        'old/module.yaml': 'requirements: {kubernetes: "< 1.20"}\n',
        'old/hooks/hook.sh': SAYS('old'),
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['db beforeHelm', 'cache beforeHelm', 'web beforeHelm']);
    const ignored = world.log.records.filter(({ msg }) => String(msg).includes('are ignored'));
    expect(ignored).toMatchObject([
      {
        level: 'warn',
        module: 'web',
        ignored: ['colour: unknown key, it is ignored', expect.stringMatching(/^name: "shop" is ignored/)],
      },
    ]);
    const { stdout } = await runInWorld(world, 'explain', 'module', 'web');
    expect(stdout).toMatch(/description +Serves pages\.\nstage +Preview\ntags +demo\n/);
    expect(stdout).toMatch(/requires +Kubernetes >=1\.20 \(the cluster has v1\.\d+\.\d+/);
    expect(stdout).toMatch(/requires +db >=1\.0 <1\.4\.0 \|\| >=1\.0 >1\.4\.0: ready\n/);
    expect(stdout).toMatch(/requires +prometheus >=1, optional: does not exist\n/);
    expect((await runInWorld(world, 'explain', 'module', 'old')).stdout).toMatch(
      /held up by +requires Kubernetes <1\.20, but the cluster has v1\./,
    );
  });

  test('a module is kept when the cluster is upgraded beyond the version that it requires', async () => {
    const module = 'requirements: {kubernetes: ">= 1.20"}\n';
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/module.yaml': module,
      },
    });
    await world.converge();
    await world.stop();
    await world.write('modules', { '001-web/module.yaml': module.replace('>= 1.20', '< 1.20') });
    await world.converge();
    expect(world.daemon.operator.registry.enabled).toEqual(['web']);
    expect(await world.get('configmaps', 'web')).toBeDefined();
  });

  test('invalid files do not change the running modules until they are corrected', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
        '001-web/hooks/hook.sh': SAYS('web'),
        '002-db/hooks/hook.sh': SAYS('db'),
      },
    });
    await world.converge();
    await world.write('modules', {
      '001-web/module.yaml': 'requires: [{name: db}]\n',
      '002-db/module.yaml': 'requires: [{name: web}]\n',
    });
    world.daemon.operator.router.main.append({ type: 'ReloadFiles', saved: [], trigger: 'test' });
    await world.log.until((records) =>
      records.some(({ error }) => String(error).includes('cycle: web -> db -> web')),
    );
    await world.log.untilPrinted('db beforeHelm', 2);
    await world.log.until((records) => records.some(({ unloaded }) => String(unloaded) === 'modules'));
    expect(world.daemon.operator.registry.enabled).toEqual(['web', 'db']);
    await world.write('modules', { '002-db/module.yaml': 'version: "1.0.0"\n' });
    world.daemon.operator.router.main.append({ type: 'ReloadFiles', saved: [], trigger: 'test' });
    await world.log.untilPrinted('web beforeHelm', 3);
    const [web, db] = ['web beforeHelm', 'db beforeHelm'];
    expect(world.log.printed).toEqual([web, db, web, db, db, web]);
    expect(world.daemon.operator.registry.track('db' as never)?.module.version).toBe('1.0.0');
  });
});
