import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { type Backend, World, type WorldOptions } from '../support/world.ts';
import { announcer, configMapChart, shHook, under } from '../support/world-files.ts';

/** Answers `--config` by the given script, and otherwise prints `ran`. */
function badConfigHook(script: string): string {
  return `#!/bin/sh\nif [ "$1" = "--config" ]; then\n${script}\nexit\nfi\necho ran\n`;
}

/** Starts a daemon that refuses to start, and returns why. */
async function startError(backend: Backend, options: WorldOptions): Promise<string> {
  await using world = await World.create(backend, options);
  const error: unknown = await world.start().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error.message.replaceAll(world.directory, '');
  throw new Error('the daemon started');
}

function warnings(world: World): unknown[] {
  return world.log.records.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
}

/** Files of modules and hooks that are wrong; with the fault ids E7, E13, E14, E27, E28, M1 of the catalogue. */
describeApiIndependent((backend) => {
  test.each([
    ['001-module-2', "/modules/001-module-2: 'module-2' name should be in kebab-case", "to 'module2'"],
    ['MyModule', "/modules/MyModule: 'MyModule' name", "to 'my-module'"],
    ['020-global', '/modules/020-global', 'cannot be the name of a module'],
  ])(
    'a directory %s, which is not a valid module name, fails the start with a suggestion',
    async (name, ...texts) => {
      const message = await startError(backend(), {
        modules: { [`${name}/values.yaml`]: '{}\n', '002-fine/values.yaml': '{}\n' },
      });
      for (const text of texts) expect(message).toContain(text);
    },
  );

  test('a name that is too long for a release holds its module alone, and is logged once', async () => {
    const name = 'very-long-name-of-a-module-that-no-release-of-helm-can-have';
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'veryLongNameOfAModuleThatNoReleaseOfHelmCanHaveEnabled: true\nwebEnabled: true\n',
        ...under(`001-${name}`, configMapChart('long', 'web')),
        ...under('002-web', configMapChart('web', 'web')),
      },
    });
    await world.converge();
    expect(await world.get('configmaps', 'web')).toBeDefined();
    const refused = world.log.records.filter(({ level }) => level === 'error');
    expect(refused).toMatchObject([
      {
        module: name,
        reason: `the name ${name} has ${name.length} characters, but a helm release may have 53`,
      },
    ]);
    expect(world.log.records.some(({ msg }) => String(msg).includes('will retry'))).toBe(false);
  });

  test('entries of the modules directory that are not directories are ignored with a warning', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'fineEnabled: true\n',
        '001-fine/hooks/hook.sh': announcer('fine', { onStartup: 1 }),
        'notes.md': 'no module\n',
        '003-gone': { link: '../nowhere' },
        '.git/config': 'hidden\n',
      },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['fine onStartup']);
    expect(warnings(world)).toEqual([
      'Symlink target does not exist. Ignoring module',
      'not a directory, so not a module: ignored',
    ]);
  });

  test('a module whose values.yaml becomes invalid keeps its values, and other changes are applied', async () => {
    await using world = await World.create(backend(), {
      modules: {
        '001-web/values.yaml': 'webEnabled: true\nweb: {a: file}\n',
        ...under('001-web', configMapChart('web', 'web')),
      },
      flags: { 'watch-files': 'true' },
    });
    const deployed = async (): Promise<unknown> => {
      const map = (await world.get('configmaps', 'web')) as { readonly data: { readonly values: string } };
      return JSON.parse(map.data.values) as unknown;
    };
    await world.converge();
    await world.log.untilMessage('watching files for changes');
    await world.write('modules', { '001-web/values.yaml': 'web: {a: [\n' });
    await world.log.untilMessage('cannot load changed files, the modules are not changed');
    await world.log.untilMessage('ModuleRun success, module is ready', 2);
    expect(await deployed()).toEqual({ a: 'file' });
    await world.putConfig({ web: 'b: config\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 3);
    expect(await deployed()).toEqual({ a: 'file', b: 'config' });
    expect(world.log.records.filter(({ msg }) => String(msg).includes('failed'))).toEqual([]);
    await world.write('modules', { '001-web/values.yaml': 'webEnabled: true\nweb: {a: mended}\n' });
    await world.log.untilMessage('ModuleRun success, module is ready', 4);
    expect(await deployed()).toEqual({ a: 'mended', b: 'config' });
  });

  test('a hook without execute permission is ignored with a warning that says how to fix it', async () => {
    await using world = await World.create(backend(), {
      globalHooks: { 'a.sh': 'echo without exec bit\n', 'b.sh': announcer('b', { onStartup: 1 }) },
    });
    await world.converge();
    expect(world.log.printed).toEqual(['b onStartup']);
    const path = join(world.directory, 'global-hooks/a.sh');
    expect(world.log.records).toContainEqual(
      expect.objectContaining({ level: 'warn', path, fix: `chmod +x ${path}` }),
    );
  });

  test.each([
    ['fails', 'echo half; echo "no such luck" >&2; exit 3', ['exit status 3', 'no such luck', 'half']],
    ['prints no mapping', 'echo "hello there"', ['a mapping is expected', 'output: hello there']],
    ['prints no YAML', 'echo "onStartup: [1"', ['config unmarshal', 'output: onStartup: [1']],
    ['prints nothing', 'true', ['--config invalid']],
  ])(
    'a global hook whose --config %s fails the start, with its name and its output',
    async (_case, script, texts) => {
      const message = await startError(backend(), { globalHooks: { 'bad.sh': badConfigHook(script) } });
      for (const text of ['bad.sh', ...texts]) expect(message).toContain(text);
    },
  );

  test('a global hook whose --config hangs fails the start after 30 s', async () => {
    await using world = await World.create(backend(), {
      globalHooks: {
        'bad.sh': badConfigHook('echo "thinking"; echo "still" >&2; touch "$WORLD/asked"; sleep 600'),
      },
    });
    const start = world.start();
    start.catch(() => undefined);
    await vi.waitFor(() => access(join(world.directory, 'asked')), 60_000);
    await world.clock.passSleep(30_000);
    await expect(start).rejects.toThrow(
      /bad\.sh.*gave no response within 30 s and was stopped: still\nhook --config output: thinking/s,
    );
  });

  test('a module hook whose --config fails its module, which recovers when the hook is corrected', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        '001-web/hooks/bad.sh': badConfigHook('echo "no such luck" >&2; exit 3'),
      },
    });
    const hook = (content: string) => world.write('modules', { '001-web/hooks/bad.sh': content });
    const lastError = () => world.daemon.operator.router.main.entries[0]?.lastError;
    await world.start();
    await world.untilDelayed();
    expect(lastError()).toMatch(/001-web\/hooks\/bad\.sh.*exit status 3: no such luck/);
    await hook(badConfigHook('echo "hello there"'));
    await world.passDelay();
    await world.log.untilMessage('attempt failed, will retry', 2);
    expect(lastError()).toMatch(/module 'web' hook 'hooks\/bad\.sh' --config invalid.*hello there/s);
    await hook(badConfigHook('sleep 600'));
    await world.passDelay();
    await world.clock.passSleep(30_000);
    await world.log.untilMessage('attempt failed, will retry', 3);
    expect(lastError()).toContain('gave no response within 30 s');
    await hook(shHook('beforeHelm: 1', 'echo ran'));
    await world.passDelay();
    await world.daemon.firstConverge;
    expect(world.log.printed).toEqual(['ran']);
  });

  test('unknown keys in a hook configuration are named by path, with the allowed keys', async () => {
    const message = await startError(backend(), {
      globalHooks: {
        'bad.sh': shHook('onStart: 1\nschedule:\n- {crontab: "* * * * *", crontap: 1}', 'echo ran'),
      },
    });
    expect(message).toContain(
      '.onStart is a forbidden property (did you mean "onStartup"?); allowed: configVersion',
    );
    expect(message).toContain(
      'schedule.crontap is a forbidden property (did you mean "crontab"?); allowed: name',
    );
  });

  test('invalid and empty crontabs fail the start and are shown', async () => {
    const message = await startError(backend(), {
      globalHooks: {
        'bad.sh': shHook('schedule:\n- {crontab: ""}\n- {crontab: "61 * * * *"}\n- {crontab: "@never"}', ''),
      },
    });
    expect(message).toContain('3 error(s) occurred');
    expect(message).toMatch(/schedule config \[0\]: crontab is invalid: .*got 0/);
    expect(message).toMatch(/schedule config \[1\]: crontab is invalid: .*61/);
    expect(message).toMatch(/schedule config \[2\]: crontab is invalid: .*@never/);
  });

  test.each([
    ['the common values.yaml', 'values.yaml', 'global:\n  a: [1\n', /\/modules\/values\.yaml:\d: /],
    ['the values.yaml of a module', '001-web/values.yaml', 'web: 1\n\tb: 2\n', /001-web\/values\.yaml:2: /],
    ['a section that is no map', '001-web/values.yaml', 'web: 1\n', /web\/values\.yaml: .*section 'web'/],
    ['a duplicate key', 'values.yaml', 'global:\n  a: 1\n  a: 2\n', /\/modules\/values\.yaml:3: .*a/],
    [
      'a duplicate key of a module',
      '001-web/values.yaml',
      'web:\n  a: 1\n  a: 2\n',
      /web\/values\.yaml:3: at web\.a: the key is given twice, first in line 2: remove one of the two/,
    ],
    ['a flag that is none', 'values.yaml', 'webEnabled: perhaps\n', /values\.yaml: .*webEnabled/],
  ])('invalid YAML fails the start with file and line: %s', async (_case, file, text, message) => {
    const modules = { '001-web/hooks/hook.sh': announcer('web', { onStartup: 1 }), [file]: text };
    expect(await startError(backend(), { modules })).toMatch(message);
  });

  test('a module stays deployed while its enabled script fails or writes neither true nor false', async () => {
    await using world = await World.create(backend(), {
      modules: {
        'values.yaml': 'webEnabled: true\nweb: {a: 1}\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/enabled': '#!/bin/sh\n. "$WORLD/decide"\n',
        '001-web/hooks/hook.sh': announcer('web', { beforeHelm: 1, beforeDeleteHelm: 1, afterDeleteHelm: 1 }),
        '../decide': 'echo true > "$MODULE_ENABLED_RESULT"',
      },
    });
    await world.converge();
    const failures: unknown[] = [];
    const decide = async (script: string): Promise<void> => {
      await world.write('modules', { '../decide': script });
      if (failures.length === 0) world.daemon.operator.router.queueConverge('ReloadAllModules', 'test');
      else await world.passDelay();
      await world.log.untilMessage('attempt failed, will retry', failures.length + 1);
      failures.push(world.daemon.operator.router.main.entries[0]?.lastError);
      expect(await world.get('configmaps', 'web')).toBeDefined();
      expect(world.daemon.operator.registry.enabled).toEqual(['web']);
    };
    await decide('echo "cannot tell" >&2; exit 1');
    await decide('echo perhaps > "$MODULE_ENABLED_RESULT"');
    await decide('true');
    await decide('echo false > "$MODULE_ENABLED_RESULT"; kill -KILL $$');
    expect(failures).toEqual([
      expect.stringContaining('cannot tell'),
      expect.stringContaining("expected 'true' or 'false', got 'perhaps'"),
      expect.stringContaining("expected 'true' or 'false', got ''"),
      expect.stringContaining('SIGKILL'),
    ]);
    for (const failure of failures) expect(failure).toContain('web');
    await world.write('modules', { '../decide': 'echo true > "$MODULE_ENABLED_RESULT"' });
    await world.passDelay();
    await world.log.untilMessage('ConvergeModules task done', 2);
    expect(world.log.printed).toEqual(['web beforeHelm', 'web beforeHelm']);
  });
});
