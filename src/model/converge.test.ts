import { expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { type ConvergeFacts, planConverge } from './converge.ts';

const names = (...list: string[]) => list as ModuleName[];
const facts = (changes: Partial<ConvergeFacts>): ConvergeFacts => ({
  known: names('a', 'b', 'c', 'd'),
  enabled: [],
  started: new Set(),
  initialized: new Set(),
  releases: new Set(),
  ...changes,
});

test('planConverge() runs all enabled modules in run order and starts those that were not started', () => {
  const plan = planConverge(facts({ enabled: names('a', 'c'), initialized: new Set(names('c')) }));
  expect(plan).toEqual({
    toDelete: [],
    toRun: [
      { module: 'a', doModuleStartup: true },
      { module: 'c', doModuleStartup: false },
    ],
  });
});

test('planConverge() deletes disabled modules that were started, in reverse run order', () => {
  const plan = planConverge(facts({ enabled: names('b'), started: new Set(names('a', 'b', 'd')) }));
  expect(plan.toDelete).toEqual(['d', 'a']);
});

test('planConverge() deletes known disabled modules with a release and spares unknown releases', () => {
  const plan = planConverge(facts({ enabled: names('b'), releases: new Set(['b', 'c', 'foreign']) }));
  expect(plan.toDelete).toEqual(['c']);
});

test('planConverge() has nothing to do without modules', () => {
  expect(planConverge(facts({ known: [] }))).toEqual({ toDelete: [], toRun: [] });
});
