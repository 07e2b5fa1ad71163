import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { factsOfModule, moduleFacts } from './collect-module-facts.ts';
import { summarizeModules } from './explain-module.ts';

const MODULES = Array.from({ length: 50 }, (_, index) => `module${index}`);

/** A lab in the middle of its converge: a task for each module is queued. */
async function convergingLab() {
  const lab = await operatorLab(MODULES);
  const held = Promise.withResolvers<void>();
  lab.obstacles.set(`config ${MODULES[0]}`, () => held.promise);
  await lab.converge();
  expect(lab.main.length).toBeGreaterThan(MODULES.length - 2);
  lab.queueReads = 0;
  return { lab, held };
}

test.each([
  ['moduleFacts', moduleFacts],
  ['summarizeModules', summarizeModules],
])('%s reads each queue once, when tasks of many modules are queued', async (_name, describe) => {
  const { lab, held } = await convergingLab();
  expect(describe(lab.operator)).toHaveLength(MODULES.length);
  expect(lab.queueReads).toBe(lab.operator.queues.all.length);
  held.resolve();
  await lab[Symbol.asyncDispose]();
});

test('factsOfModule returns what moduleFacts returns for that module', async () => {
  const { lab, held } = await convergingLab();
  const facts = moduleFacts(lab.operator);
  expect(MODULES.map((module) => factsOfModule(lab.operator, module))).toEqual(facts);
  expect(factsOfModule(lab.operator, 'unknown')).toBeUndefined();
  expect(facts[1]?.explanation.waitsFor).toEqual([expect.stringContaining('in front of it in queue main')]);
  held.resolve();
  await lab[Symbol.asyncDispose]();
});
