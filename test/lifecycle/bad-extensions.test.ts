import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explain, extend, host, MODULES, ONLY_NEXT, worldOf } from '../support/extension-world.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { rejection } from '../support/rejection.ts';
import { World } from '../support/world.ts';

/** Extensions of one kind that cannot be used, or change. */
describeApiIndependent((backend) => {
  describe('an extension of a kind', () => {
    test('fails the start when it is operator-wide and invalid', async () => {
      const two = { 'core/configmap.ts': ONLY_NEXT, 'core/config-map.mjs': ONLY_NEXT };
      await using world = await worldOf(backend(), two);
      const reason = await rejection(world.start());
      expect(reason).toContain('Several files extend the same kind');
      for (const name of Object.keys(two))
        expect(reason).toContain(join(world.directory, 'customizations', name));
      await rm(join(world.directory, 'customizations'), { recursive: true });
      await extend(world, { 'core/configmap.ts': 'throw new Error("no luck");' });
      expect(await rejection(world.start())).toContain('Error: no luck (at ');
    });

    test('fails only its module when it belongs to a module and is invalid', async () => {
      await using world = await World.create(backend(), {
        modules: { ...MODULES, '001-web/customizations/core/configmap.ts': 'throw new Error("no luck");' },
        flags: { 'module-failure-policy': 'isolate' },
      });
      await world.converge();
      expect(await world.get('configmaps', 'db')).toBeDefined();
      expect(await explain(world, 'web')).toMatchObject({
        failure: { error: expect.stringContaining('no luck') },
      });
    });

    test('is warned about by file and name, when its kind or a method is misspelt', async () => {
      const host = (method: string): string =>
        `import { defineExtensions } from 'addon-operator/sdk';\nexport default defineExtensions({ delete: (object, next) => next(object), ${method}() {} });\n`;
      await using world = await worldOf(backend(), {
        'core/config-map.ts': host('onSucess'),
        'core/confg-map.ts': host('helper'),
      });
      await world.converge();
      const warnings = world.log.records.filter(
        ({ level, extension }) => level === 'warn' && extension !== undefined,
      );
      const file = (name: string): string => join(world.directory, 'customizations/core', name);
      expect(warnings.map(({ extension, msg }) => ({ extension, msg }))).toEqual([
        {
          extension: file('confg-map.ts'),
          msg: 'the API server does not serve a kind core/confgmap (did you mean "core/configmap"?); the extension has no effect until it does',
        },
        {
          extension: file('config-map.ts'),
          msg: 'the method onSucess is never called: it is not an extension point (did you mean "onSuccess"?)',
        },
      ]);
    });

    test('fails only its module, with the reason, when it hangs', async () => {
      await using world = await World.create(backend(), {
        modules: {
          ...MODULES,
          '001-web/customizations/core/config-map.ts': host('modifyManifest', 'for (;;);'),
        },
        flags: { 'module-failure-policy': 'isolate', 'extension-timeout': '1s' },
      });
      await world.converge();
      expect(await world.get('configmaps', 'db')).toBeDefined();
      expect(await world.get('configmaps', 'web')).toBeUndefined();
      expect(await explain(world, 'web')).toMatchObject({
        failure: { error: expect.stringContaining('it ran longer than its limit of 1 s') },
      });
    });

    test('is loaded again when its file is saved, with --watch-files', async () => {
      const marking = (mark: string): string =>
        host('modifyManifest', `return { ...input, data: { mark: '${mark}' } };`);
      await using world = await worldOf(
        backend(),
        { 'core/config-map.ts': marking('old') },
        { flags: { 'watch-files': 'true' } },
      );
      await world.converge();
      await world.log.untilMessage('watching files for changes');
      await extend(world, { 'core/config-map.ts': marking('new') });
      await world.log.untilMessage('ModuleRun success, module is ready', 3);
      expect(await world.get('configmaps', 'web')).toMatchObject({ data: { mark: 'new' } });
    });
  });
});
