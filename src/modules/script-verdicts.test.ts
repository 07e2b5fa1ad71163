import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, asyncProperty, constantFrom, record } from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { moduleNamed } from '../../test/support/module-fixture.ts';
import { parseConfigMapData } from '../values/config-map-content.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ValuesStore } from '../values/values-store.ts';
import { sectionsVisibleToModule, visibleToModule } from '../values/visible-values.ts';
import { EXTENDERS } from './enablement.ts';
import type { Module } from './module.ts';
import { discoverModules, type EnabledScript, type ModuleDiscovery } from './module-discovery.ts';
import { ScriptVerdicts } from './script-verdicts.ts';

const NEVER = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), 'script-verdicts-'));
afterAll(() => rmSync(root, { recursive: true }));

const names = (text: string): readonly ModuleName[] => text.split(' ') as ModuleName[];
const FLAGS = { common: new Map(), dynamic: new Map(), configMap: new Map() };

function scripted(name: string): Module {
  const enabledScript = join(root, name);
  writeFileSync(enabledScript, '#!/bin/sh\n');
  return moduleNamed(name, { enabledScript, ownFlag: true });
}

/** Modules a, b and c, of which a and c have scripts that disable them by `off: true` in any section they see. */
function lab() {
  const modules = [scripted('a'), moduleNamed('b', { ownFlag: true }), scripted('c')];
  const store = new ValuesStore({
    global: {},
    modules: new Map(modules.map(({ name }) => [name, {}])),
  });
  const verdicts = new ScriptVerdicts((name) => sectionsVisibleToModule(store, name, 'optional'));
  const asked: ModuleName[] = [];
  const failing = new Set<string>();
  const script: EnabledScript = async ({ name }, enabledBefore) => {
    asked.push(name);
    if (failing.has(name)) throw new Error('script is broken');
    const given = JSON.stringify(visibleToModule(store, name, enabledBefore, 'optional'));
    return { isEnabled: !given.includes('"off":true'), reason: given };
  };
  const pass = (ask: EnabledScript): Promise<ModuleDiscovery> =>
    discoverModules({ modules, flags: FLAGS, extenders: EXTENDERS }, ask, NEVER);
  return {
    store,
    asked,
    failing,
    verdicts,
    fresh: () => pass(script),
    all: () => pass(verdicts.runningAll(script)),
    concerned: () => pass(verdicts.runningConcerned(script)),
    setConfig: (data: Readonly<Record<string, string>>) => store.setConfig(parseConfigMapData(data)),
    takeRequested: () => asked.splice(0),
  };
}

async function settled() {
  const parts = lab();
  await parts.all();
  parts.takeRequested();
  return parts;
}

test('runningConcerned() runs no script for a section that no script sees', async () => {
  const { setConfig, concerned, asked } = await settled();
  setConfig({ b: 'x: 1' });
  expect((await concerned()).enabled).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([]);
});

test.each<[what: string, data: Readonly<Record<string, string>>, asked: string]>([
  ['its section has changed', { c: 'x: 1' }, 'c'],
  ['global values have changed', { global: 'x: 1' }, 'a c'],
  ['another module is enabled before it', { a: 'off: true' }, 'a c'],
])('runningConcerned() runs a script when %s, and only once', async (_what, data, expected) => {
  const { setConfig, concerned, takeRequested } = await settled();
  setConfig(data);
  await concerned();
  expect(takeRequested()).toEqual(names(expected));
  await concerned();
  expect(takeRequested()).toEqual([]);
});

test('runningConcerned() runs a script that sees what a hook patched since', async () => {
  const { store, concerned, asked } = await settled();
  store.applyPatch('c' as ModuleName, [{ op: 'add', path: '/c/off', value: true }]);
  expect((await concerned()).enabled).toEqual(['a', 'b']);
  expect(asked).toEqual(['c']);
});

test('runningConcerned() runs scripts for an empty section in the ConfigMap, where there was none', async () => {
  const { setConfig, concerned, asked } = await settled();
  setConfig({ c: '{}' });
  await concerned();
  expect(asked).toEqual(['c']);
});

test('runningConcerned() runs a script whose file was replaced, or removed', async () => {
  const { concerned, takeRequested } = await settled();
  writeFileSync(join(root, 'next'), '#!/bin/sh\n');
  renameSync(join(root, 'next'), join(root, 'c'));
  await concerned();
  expect(takeRequested()).toEqual(['c']);
  rmSync(join(root, 'c'));
  await concerned();
  await concerned();
  expect(takeRequested()).toEqual(['c', 'c']);
});

test('runningAll() runs every script each time, and runningConcerned() those that failed in it', async () => {
  const { all, concerned, failing, takeRequested } = await settled();
  failing.add('c');
  await expect(all()).rejects.toThrow('script is broken');
  await expect(concerned()).rejects.toThrow('script is broken');
  expect(takeRequested()).toEqual(['a', 'c', 'c']);
  failing.clear();
  await concerned();
  expect(takeRequested()).toEqual(['c']);
});

test('forget() leaves no last word', async () => {
  const { verdicts, concerned, asked } = await settled();
  verdicts.forget();
  await concerned();
  expect(asked).toEqual(['a', 'c']);
});

test('runningConcerned() decides as if all scripts were run, reasons included', async () => {
  const section = constantFrom('x: 1', 'x: 2', 'off: true', '{}');
  const content = record({ global: section, a: section, b: section, c: section }, { requiredKeys: [] });
  await assert(
    asyncProperty(array(content, { maxLength: 6 }), async (contents) => {
      const { setConfig, concerned, fresh } = await settled();
      for (const data of contents) {
        setConfig(data);
        expect(await concerned()).toEqual(await fresh());
      }
    }),
    { numRuns: 50 },
  );
});
