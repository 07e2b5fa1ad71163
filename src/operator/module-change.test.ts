import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import type { Module, Refusal } from '../modules/module.ts';
import { moduleChange } from './module-change.ts';

const LOST: Refusal = { type: 'gone', lost: 'directory', reason: 'it is gone', remedy: 'restore it' };
const INVALID: Refusal = { type: 'invalid', reason: 'line 3', remedy: 'correct the file' };

const one = moduleFor('web', 1, { path: '/store/one', link: '/modules/010-web' });
const two = { ...one, path: '/store/two' };
const copied = { ...one, path: '/copies/1', source: '/store/one' };
const moved = { ...one, link: '/modules/020-web' };
const removed: Module = { ...one, isRemoved: true };

test.each([
  ['nothing that was known', undefined, undefined, 'none'],
  ['a module that is gone', one, undefined, 'end'],
  ['a new module', undefined, one, 'start'],
  ['a new module that is invalid', undefined, { ...one, refusal: INVALID }, 'start'],
  ['the same module', one, one, 'none'],
  ['a copy of the same module', copied, { ...copied, path: '/copies/2' }, 'none'],
  ['a link of another name', one, moved, 'refresh'],
  ['another version', one, two, 'switch'],
  ['another version that is invalid', one, { ...two, refusal: INVALID }, 'refuse'],
  ['another version whose files are lost', one, { ...two, refusal: LOST }, 'hold'],
  ['lost files', one, { ...one, refusal: LOST }, 'hold'],
  ['files that are still lost', { ...one, refusal: LOST }, { ...one, refusal: LOST }, 'refresh'],
  ['an invalid version of a held module', { ...one, refusal: LOST }, { ...two, refusal: INVALID }, 'hold'],
  ['files that are back', { ...one, refusal: LOST }, one, 'return'],
  ['another version of a held module', { ...one, refusal: LOST }, two, 'return'],
  ['a module that was removed from the store', one, removed, 'delete'],
  ['a module that has been removed already', removed, removed, 'none'],
  ['a removed module that was added again', removed, one, 'return'],
] as const)('moduleChange() of %s', (_what, old, next, change) => {
  expect(moduleChange(old, next, { isEdited: false })).toBe(change);
});

test('moduleChange() takes over edited files in development', () => {
  expect(moduleChange(one, one, { isEdited: true })).toBe('refresh');
});
