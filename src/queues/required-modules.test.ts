import { OperatorError } from '@addon-operator/base/errors';
import type { FlowHookInput, HookResult } from '@addon-operator/sdk';
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { disable, flowLab } from '../../test/support/flow-lab.ts';
import { moduleFor, name, type OperatorLab } from '../../test/support/operator-lab.ts';
import { NO_MANIFEST } from '../modules/module-manifest.ts';
import { modulesPutOff } from '../requests/modules-left-behind.ts';
import { onPausesChange } from '../requests/pause-tasks.ts';
import { requestOperation } from '../requests/request-operation.ts';
import { moduleFacts } from '../views/collect-module-facts.ts';

const MODULES = ['late', 'needs', 'last'] as const;
const PAUSE = { reason: 'work', sinceMs: 0, untilMs: undefined };

function requiring(text: string, order: number, required: string, isOptional = false) {
  const requires = [{ name: name(required), version: undefined, isOptional }];
  return moduleFor(text, order, { manifest: { ...NO_MANIFEST, requires } });
}

const chain = () => [moduleFor('late', 1), requiring('needs', 2, 'late'), requiring('last', 3, 'needs')];

/** Puts off the module "late" while `isClosed`. */
class Gate {
  isClosed = true;
  result: HookResult = { abortReconcile: true };

  readonly response = ({ module }: FlowHookInput): HookResult | undefined =>
    this.isClosed && module?.name === 'late' ? this.result : undefined;
}

function waitsFor(lab: OperatorLab, module: string): readonly string[] | undefined {
  return moduleFacts(lab.operator).find(({ explanation }) => explanation.module === module)?.explanation
    .waitsFor;
}

/** The actions of helm since the last call. */
function deploys(lab: OperatorLab): readonly string[] {
  return lab.takeCalls().filter((call) => /^(?:deploy|force|uninstall) /u.test(call));
}

async function gated(...args: Parameters<typeof flowLab>) {
  const flow = await flowLab(...args);
  const gate = new Gate();
  flow.responses = { BeforeReconcile: gate.response };
  return { flow, lab: flow.lab, gate, [Symbol.asyncDispose]: () => flow[Symbol.asyncDispose]() };
}

test('a module waits for a required one that a flow hook puts off, and runs by itself afterwards', async () => {
  await using world = await gated(chain());
  const { lab, gate } = world;
  gate.result = { abortReconcile: true, requeueAfterMs: 3_000 };
  await lab.converge();
  expect(deploys(lab)).toEqual([]);
  expect(waitsFor(lab, 'needs')).toEqual(['module late, which a flow hook put off']);
  expect(waitsFor(lab, 'last')).toEqual(['module needs, which waits for module late']);
  gate.isClosed = false;
  await lab.pass(3_000, 1);
  expect(deploys(lab)).toEqual(['deploy late', 'deploy needs', 'deploy last']);
});

test('what the first converge has put off is named with the reason', async () => {
  await using world = await gated(chain());
  await world.lab.converge();
  expect([...modulesPutOff(world.lab.operator)]).toEqual([
    ['late', expect.stringContaining('a flow hook ended the last one')],
    ['needs', 'module late, which a flow hook put off'],
    ['last', 'module needs, which waits for module late'],
  ]);
});

test('a module does not wait for a required one that was ready before it is put off', async () => {
  await using world = await gated(chain());
  const { lab, gate } = world;
  gate.isClosed = false;
  await lab.converge();
  deploys(lab);
  gate.isClosed = true;
  lab.startOver();
  await lab.settle();
  expect(deploys(lab)).toEqual(['deploy needs', 'deploy last']);
});

test('a module does not wait after a restart for one whose release is deployed', async () => {
  await using world = await gated(chain());
  const { lab } = world;
  lab.releases.add('late');
  await lab.converge();
  expect(deploys(lab)).toEqual(['deploy needs', 'deploy last']);
});

test('a module does not wait for a module that it requires optionally', async () => {
  await using world = await gated([moduleFor('late', 1), requiring('needs', 2, 'late', true)]);
  await world.lab.converge();
  expect(deploys(world.lab)).toEqual(['deploy needs']);
});

test('a module that waits runs when the other one is paused', async () => {
  await using world = await gated(chain());
  const { lab } = world;
  await lab.converge();
  lab.pauses.set('late', PAUSE);
  onPausesChange(lab.operator);
  await lab.settle();
  expect(deploys(lab)).toEqual(['deploy needs', 'deploy last']);
});

test('a module that waits fails with the other one when that is aborted', async () => {
  await using world = await gated(chain());
  const { lab } = world;
  await lab.converge();
  requestOperation(lab.operator, 'late', 'abort');
  await lab.settle();
  const stalls = MODULES.map((module) => lab.operator.registry.tracked.get(name(module))?.stall?.code);
  expect(stalls).toEqual(['RUN_ABORTED', 'REQUIREMENT_FAILED', 'REQUIREMENT_FAILED']);
  expect(deploys(lab)).toEqual([]);
});

test('a requested operation of a module that waits is done when it runs', async () => {
  await using world = await gated(chain());
  const { lab, gate } = world;
  await lab.converge();
  expect(requestOperation(lab.operator, 'needs', 'force-reconcile')).toBe('requested');
  await lab.settle();
  expect(deploys(lab)).toEqual([]);
  gate.isClosed = false;
  requestOperation(lab.operator, 'late', 'reconcile');
  await lab.settle();
  expect(deploys(lab)).toEqual(['deploy late', 'force needs', 'deploy last']);
});

test('a module that waits is deleted when it is disabled', async () => {
  await using world = await gated(chain());
  const { lab } = world;
  await lab.converge();
  lab.enabled.delete('last');
  await disable(lab, 'needs');
  expect(deploys(lab)).toEqual([]);
  expect([...modulesPutOff(lab.operator).keys()]).toEqual(['late']);
});

test('with parallel runs a module waits as well', async () => {
  const modules = [moduleFor('late', 1), moduleFor('free', 1), requiring('needs', 1, 'late')];
  await using world = await gated(modules, {}, { runsModulesInParallel: true });
  const { lab, gate } = world;
  await lab.converge();
  expect(deploys(lab)).toEqual(['deploy free']);
  gate.isClosed = false;
  requestOperation(lab.operator, 'late', 'reconcile');
  await lab.settle();
  expect(deploys(lab)).toEqual(['deploy late', 'deploy needs']);
});

const step = oneof(
  record({ do: constant('gate' as const), isClosed: boolean(), afterMs: constantFrom(0, 1_000, 20_000) }),
  record({ do: constant('change' as const), module: constantFrom(...MODULES) }),
  record({
    do: constant('command' as const),
    module: constantFrom(...MODULES),
    operation: constantFrom('reconcile' as const, 'force-reconcile' as const, 'abort' as const),
  }),
  record({
    do: constant('deploy' as const),
    module: constantFrom(...MODULES),
    fails: constantFrom('no', 'once', 'for good'),
  }),
  record({ do: constantFrom('pause' as const, 'switch' as const, 'converge' as const) }),
  record({ do: constant('wait' as const), ms: constantFrom(1_000, 30_000) }),
);
type Step = typeof step extends import('fast-check').Arbitrary<infer T> ? T : never;

/** A module that is not paused may deploy only after what it requires has been ready since it was enabled. */
class Order {
  readonly #ready = new Set<string>();
  readonly violations: string[] = [];

  constructor(lab: OperatorLab, fails: ReadonlyMap<string, string>) {
    const required: Record<string, string | undefined> = { needs: 'late', last: 'needs' };
    for (const module of MODULES)
      for (const how of ['deploy', 'force'])
        lab.obstacles.set(`${how} ${module}`, () => {
          const other = required[module];
          if (other !== undefined && !this.#ready.has(other) && !lab.pauses.has(other))
            this.violations.push(`${module} before ${other}`);
          if (fails.get(module) === 'once') throw new Error('not now');
          if (fails.get(module) === 'for good')
            throw new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
          this.#ready.add(module);
        });
    for (const module of MODULES)
      lab.obstacles.set(`uninstall ${module}`, () => void this.#ready.delete(module));
  }
}

test('no module runs before one that it requires, and all are ready in the end, with any results of flow hooks', async () => {
  await assert(
    asyncProperty(
      constantFrom('block' as const, 'isolate' as const),
      boolean(),
      array(tuple(step, nat({ max: 5 })), { minLength: 1, maxLength: 15 }),
      async (failurePolicy, runsModulesInParallel, steps) => {
        await using world = await gated(chain(), {}, { failurePolicy, runsModulesInParallel });
        const { lab, gate } = world;
        const fails = new Map<string, string>();
        const order = new Order(lab, fails);
        const act = async (what: Step): Promise<void> => {
          switch (what.do) {
            case 'gate':
              gate.isClosed = what.isClosed;
              gate.result = { abortReconcile: true, requeueAfterMs: what.afterMs };
              return;
            case 'change':
              return lab.operator.router.queueModuleRun(name(what.module), 'change');
            case 'command':
              requestOperation(lab.operator, what.module, what.operation);
              return;
            case 'deploy':
              fails.set(what.module, what.fails);
              return;
            case 'pause':
              if (!lab.pauses.delete('late')) lab.pauses.set('late', PAUSE);
              return onPausesChange(lab.operator);
            case 'switch':
              // As discovery does it: what requires the module goes with it.
              for (const module of MODULES) if (!lab.enabled.delete(module)) lab.enabled.add(module);
              return lab.startOver();
            case 'converge':
              return lab.startOver();
            case 'wait':
              await lab.clock.advance(what.ms);
          }
        };
        await lab.converge();
        for (const [what, turns] of steps) {
          await act(what);
          await (turns === 5 ? lab.settle() : lab.turns(turns));
        }
        fails.clear();
        gate.isClosed = false;
        lab.pauses.clear();
        onPausesChange(lab.operator);
        await lab.pass(300_000, 3);
        requestOperation(lab.operator, 'late', 'reconcile');
        await lab.pass(300_000, 3);
        expect(order.violations).toEqual([]);
        for (const module of lab.enabled) {
          const { explanation } =
            moduleFacts(lab.operator).find((one) => one.explanation.module === module) ?? {};
          // An abort, or a failure for good, is not tried again by itself.
          expect([
            module,
            ['ready', 'failing'].includes(explanation?.status ?? ''),
            explanation?.waitsFor.filter((text) => text.includes('flow hook')),
          ]).toEqual([module, true, []]);
        }
      },
    ),
    { numRuns: 100, interruptAfterTimeLimit: 40_000 },
  );
}, 120_000);
