import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { describe, expect, test } from 'vitest';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { SettingsVerdict } from '../hooks/batch-file.ts';
import type { Hook } from '../hooks/hook.ts';
import type { HookRuntime } from '../model/hook-runtime.ts';
import { TrackedModule } from '../model/tracked-module.ts';
import { EMPTY_CONTENT, withSection } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ValuesStore } from '../values/values-store.ts';
import { SettingsChecks } from './settings-checks.ts';

const WEB = 'web' as ModuleName;
const never = new AbortController().signal;
const all = (): boolean => true;

function lab(verdict: (settings: { readonly size?: number }) => SettingsVerdict) {
  const module = moduleFor('web');
  const values = new ValuesStore({ global: {}, modules: new Map([[WEB, {}]]) });
  const tracked = new TrackedModule(module);
  const hook: Hook = {
    name: 'hooks/batch-settings-check',
    path: '/m/hooks/batch',
    transport: 'executable',
    owner: { type: 'module', module: WEB },
    config: NO_BINDINGS,
    batch: { type: 'settings-check' },
  };
  tracked.apply({ type: 'hooks-loaded', hooks: [{ hook } as HookRuntime] });
  const checked: unknown[] = [];
  const events: unknown[] = [];
  const checks = new SettingsChecks({
    registry: { tracked: new Map([[WEB, tracked]]) },
    values,
    log: silentLogger,
    record: (name, { reason, message }) => events.push([name, reason, message]),
    run: async (_hook, settings) => {
      const parsed = JSON.parse(settings) as { readonly size?: number };
      checked.push(parsed);
      return await Promise.resolve(verdict(parsed));
    },
  });
  const content = (size: number) => withSection(EMPTY_CONTENT, module.key, { size });
  return { checks, values, tracked, checked, events, content };
}

const problemOf = async (checking: Promise<void>): Promise<string> => {
  const error: unknown = await checking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!hasCode(error, 'VALUES_INVALID')) throw new Error(`accepted, or failed with ${String(error)}`);
  return error.message;
};

describe('checkContent()', () => {
  test('refuses a changed section with the message of the check, each time', async () => {
    const { checks, content, checked } = lab(() => ({ isValid: false, message: 'too small', warnings: [] }));
    for (const _time of [1, 2])
      expect(await problemOf(checks.checkContent(content(1), all, never))).toBe(
        "values of module 'web' in the ConfigMap are refused by `/m/hooks/batch hook check`: too small",
      );
    expect(checked).toEqual([{ size: 1 }, { size: 1 }]);
  });

  test('refuses a section that cannot be checked', async () => {
    const { checks, content } = lab(() => {
      throw new Error('it panicked: boom');
    });
    expect(await problemOf(checks.checkContent(content(1), all, never))).toMatch(
      /it cannot be checked: it panicked: boom$/,
    );
  });

  test('keeps warnings of an accepted section, and records each as an Event', async () => {
    const { checks, content, tracked, events } = lab(() => ({
      isValid: true,
      message: '',
      warnings: ['odd'],
    }));
    await checks.checkContent(content(1), all, never);
    expect(tracked.settings?.warnings).toEqual(['odd']);
    expect(events).toEqual([['web', 'SettingsWarning', 'odd']]);
  });

  test('checks neither a section in force, nor an empty one, nor one that is not used', async () => {
    const { checks, values, content, checked } = lab(() => ({ isValid: false, message: '', warnings: [] }));
    values.setConfig(content(1));
    await checks.checkContent(content(1), all, never);
    await checks.checkContent(EMPTY_CONTENT, all, never);
    await checks.checkContent(content(2), () => false, never);
    expect(checked).toEqual([]);
  });
});

describe('checkInForce()', () => {
  test('checks the section of a module that starts, unless it was accepted before', async () => {
    const { checks, values, tracked, content, checked } = lab(({ size }) => ({
      isValid: size !== 3,
      message: 'three',
      warnings: [],
    }));
    await checks.checkInForce(tracked, never);
    await checks.checkContent(content(2), all, never);
    values.setConfig(content(2));
    await checks.checkInForce(tracked, never);
    expect(checked).toEqual([{ size: 2 }]);
    values.setConfig(content(3));
    expect(await problemOf(checks.checkInForce(tracked, never))).toContain('three');
  });
});
