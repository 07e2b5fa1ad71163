import { expect, test } from 'vitest';
import { problemOf, problemOfRef } from './problems.ts';
import type { Problem } from './responses.ts';

const problem = (text: string, place: Partial<Problem>): Problem => ({
  level: 'broken',
  text,
  since: null,
  module: '',
  hook: '',
  binding: '',
  queue: '',
  run: '',
  advice: [],
  actions: [],
  ...place,
});
const PROBLEMS = [
  problem('head', { queue: 'main', module: 'web' }),
  problem('hang', { queue: 'own', hook: 'db/hooks/a.sh', module: 'db' }),
  problem('behind', { queue: 'main', module: 'dns' }),
];

test.each([
  ['dns', 'queue/main', 'head'],
  ['dns', 'hook/db/hooks/a.sh', 'hang'],
  ['dns', 'module/db', 'hang'],
  ['dns', null, 'behind'],
  ['dns', '/modules/001-dns', 'behind'],
  ['app', 'queue/other', undefined],
  ['app', null, undefined],
])('what holds module %s up by %s is the problem %s', (module, ref, text) => {
  expect(problemOfRef(PROBLEMS, module, ref)?.text).toBe(text);
});

test('a problem has all that it is looked for by', () => {
  expect(problemOf(PROBLEMS, { queue: 'main', module: 'dns' })?.text).toBe('behind');
  expect(problemOf(PROBLEMS, { queue: 'main', hook: 'db/hooks/a.sh' })).toBeUndefined();
});
