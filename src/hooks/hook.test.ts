import { expect, test } from 'vitest';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { ModuleName } from '../values/module-key.ts';
import { type Hook, hooksInOrder, moduleNameOf, title, valuesOwnerOf } from './hook.ts';

function hook(name: string, onStartup: number | undefined, module?: string): Hook {
  return {
    name,
    path: `/hooks/${name}`,
    transport: 'executable',
    owner: module === undefined ? { type: 'global' } : { type: 'module', module: module as ModuleName },
    config: { ...NO_BINDINGS, lifecycle: onStartup === undefined ? {} : { onStartup } },
  };
}

test('hooksInOrder() sorts by order number, then by name, and leaves out other hooks', () => {
  const hooks = [hook('z', 10), hook('b', 5), hook('none', undefined), hook('a', 5), hook('n', -1)];
  expect(hooksInOrder(hooks, 'onStartup').map(({ name }) => name)).toEqual(['n', 'a', 'b', 'z']);
  expect(hooksInOrder(hooks, 'beforeAll')).toEqual([]);
});

test('hooks of one batch file run by index', () => {
  const part = (index: number): Hook => ({
    ...hook(`batch:a:${index}`, 5),
    path: '/hooks/batch',
    batch: { type: 'hook', index },
  });
  expect(hooksInOrder([part(10), part(9), hook('a', 5)], 'onStartup').map(({ name }) => name)).toEqual([
    'a',
    'batch:a:9',
    'batch:a:10',
  ]);
});

test('a hook knows whose values it reads and how messages name it', () => {
  const [global, module] = [hook('a.sh', 1), hook('hooks/a.sh', 1, 'web')];
  expect([valuesOwnerOf(global), moduleNameOf(global), title(global)]).toEqual([
    'global',
    '',
    "global hook 'a.sh'",
  ]);
  expect([valuesOwnerOf(module), moduleNameOf(module), title(module)]).toEqual([
    'web',
    'web',
    "module hook 'hooks/a.sh'",
  ]);
});
