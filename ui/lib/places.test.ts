import { expect, test } from 'vitest';
import { type Place, pathTo, pathToRef, placeOf } from './places.ts';

test.each<[string, Place]>([
  ['', { page: 'now' }],
  ['modules', { page: 'modules' }],
  ['modules/', { page: 'modules' }],
  ['modules/web', { page: 'module', name: 'web', tab: 'why' }],
  ['modules/web/changes', { page: 'module', name: 'web', tab: 'changes' }],
  ['modules/web/other', { page: 'unknown' }],
  ['modules/web/why/more', { page: 'unknown' }],
  ['queues/a%2Fb', { page: 'queue', name: 'a/b' }],
  ['queues/%', { page: 'queue', name: '%' }],
  ['runs/12', { page: 'run', id: '12' }],
  ['runs/12/x', { page: 'unknown' }],
  ['next/x', { page: 'unknown' }],
  ['constructor', { page: 'unknown' }],
])('the page of %j', (path, place) => {
  expect(placeOf(path)).toEqual(place);
});

test('a path to a name leads back to it, for any name', () => {
  for (const name of ['web', 'a/b', '..%2f', 'javascript:alert(1)', '<img>', '\u202e?#&']) {
    expect(placeOf(pathTo(['queues', name]))).toEqual({ page: 'queue', name });
  }
  expect(pathTo(['runs'], { module: 'a&b', result: '' })).toBe('runs?module=a%26b');
});

test('references lead to pages, files do not', () => {
  expect(pathToRef('module/db')).toBe('modules/db');
  expect(pathToRef('queue/main')).toBe('queues/main');
  expect(pathToRef('hook/web/hooks/a.sh')).toBe('runs?module=web&hook=hooks%2Fa.sh');
  expect(pathToRef('hook/010-a.sh')).toBe('runs?hook=010-a.sh');
  expect(pathToRef('/modules/values.yaml')).toBeUndefined();
});
