import { expect, test } from 'vitest';
import { cacheDirectory } from './cache-directory.ts';

test.each([
  [{ ADDON_OPERATOR_CACHE_DIR: '/mine', XDG_CACHE_HOME: '/xdg' }, '/mine'],
  [{ ADDON_OPERATOR_CACHE_DIR: '', XDG_CACHE_HOME: '/xdg' }, '/xdg/addon-operator'],
  [{ XDG_CACHE_HOME: '' }, '/home/ann/.cache/addon-operator'],
  [{}, '/home/ann/.cache/addon-operator'],
])('cacheDirectory() of %j is %s', (env, expected) => {
  expect(cacheDirectory(env, '/home/ann')).toBe(expected);
});
