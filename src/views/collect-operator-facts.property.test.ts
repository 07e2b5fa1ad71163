import { assert, asyncProperty } from 'fast-check';
import { expect, test } from 'vitest';
import { act, anyOptions, anySteps, HOOKS, MODULES } from '../../test/support/operator-histories.ts';
import { moduleFor, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { startUp } from '../operator/lifecycle.ts';
import { ACTIONS } from '../server/api/actions.ts';
import type { ModuleSummary } from '../status/module-explanation.ts';
import { type OperatorStatus, operatorStatus } from '../status/operator-status.ts';
import { collectOperatorFacts } from './collect-operator-facts.ts';
import { explainModule, moduleStatuses, summarizeModules } from './explain-module.ts';

/** Text and data say the same, and each action has a target that exists. */
function checkDetails(lab: OperatorLab, { problems, details, level, text }: OperatorStatus): void {
  expect(details.map((problem) => problem.text)).toEqual(problems);
  expect(problems[0] ?? text).toBe(text);
  expect(level === 'broken').toBe(details.some((problem) => problem.level === 'broken'));
  for (const { since, actions, module, queue, hook } of details) {
    expect(Date.parse(since ?? '1970-01-01T00:00:00Z')).toBeLessThanOrEqual(lab.clock.wallMs());
    const targets = {
      module: lab.operator.registry.modules.some(({ name }) => name === module),
      queue: lab.operator.queues.find(queue) !== undefined,
      hook: hook !== '',
      operator: true,
    };
    for (const action of actions) expect([action, targets[ACTIONS[action].target]]).toEqual([action, true]);
  }
}

test('in any history the status of the operator is the same as one made of the summaries of all modules', async () => {
  const seen = new Set<string>();
  await assert(
    asyncProperty(anyOptions, anySteps, async (options, steps) => {
      const modules = MODULES.map((module) => moduleFor(module, 1));
      await using lab = await operatorLab(modules, HOOKS, options);
      const before = new Map<string, ModuleSummary>();
      startUp(lab.operator, lab.handler(), { stop: lab.stop.signal, abort: lab.abort.signal });
      for (const [what, turns] of steps) {
        await act(lab, what);
        await lab.turns(turns);
        const facts = collectOperatorFacts(lab.operator, lab.operator.health);
        const summaries = summarizeModules(lab.operator);
        expect(operatorStatus(facts)).toEqual(operatorStatus({ ...facts, modules: summaries }));
        checkDetails(lab, operatorStatus(facts));
        const sum = Object.values(facts.counts).reduce((one, other) => one + other, 0);
        expect(sum).toBe(summaries.length);
        const statuses = moduleStatuses(lab.operator);
        for (const summary of summaries) {
          const { module, status, since, heldUpBy } = summary;
          seen.add(status);
          const last = before.get(module);
          before.set(module, summary);
          // A status that stays keeps its beginning; one that is new began no earlier than the one before it.
          const isKept = last?.status === status;
          expect(since >= (last?.since ?? since)).toBe(true);
          expect(!isKept || since === last.since).toBe(true);
          expect(Date.parse(since)).toBeLessThanOrEqual(lab.clock.wallMs());
          // Lists, counts and explanations of a module never disagree, and none calls one ready that is held up.
          const explained = lab.operator.registry.modules.find(({ name }) => name === module);
          const known = explained && explainModule(lab.operator, explained, []).status;
          expect({ known, listed: statuses.get(module) }).toEqual({ known: status, listed: status });
          expect(status === 'ready').toBe(status === 'ready' && heldUpBy === undefined);
        }
        expect(facts.counts.ready ?? 0).toBe(summaries.filter(({ status }) => status === 'ready').length);
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 8_000 },
  );
  // On a busy machine there is time for few histories.
  expect(seen.size).toBeGreaterThan(1);
}, 60_000);
