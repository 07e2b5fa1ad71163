import { basename } from 'node:path';
import type { Hook, HookOwner } from '../../src/hooks/hook.ts';
import type { Module } from '../../src/modules/module.ts';
import type { ModuleName } from '../../src/values/module-key.ts';
import { v1 } from './hook-configs.ts';
import { moduleNamed } from './module-fixture.ts';

/** A hook of a module, or a global one (`global/x`), by `<owner>/<file>`. */
export async function hookFor(path: string, config: object): Promise<Hook> {
  const ownerName = path.slice(0, path.indexOf('/'));
  const owner: HookOwner =
    ownerName === 'global' ? { type: 'global' } : { type: 'module', module: ownerName as ModuleName };
  return {
    name: basename(path),
    path: `/${path}`,
    transport: 'executable',
    owner,
    config: await v1(config, owner.type),
  };
}

/** A module with a chart. */
export function moduleFor(text: string, order = 1, fields: Partial<Module> = {}): Module {
  return moduleNamed(text, { order, chart: 'chart-yaml', ...fields });
}
