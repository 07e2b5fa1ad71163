import { OperatorError } from '@addon-operator/base/errors';
import type { FlowHookType, HookResult } from '@addon-operator/sdk';
import { FLOW_HOOK_TYPES } from '@addon-operator/sdk/host';
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  option,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import { flowLab, recheck } from '../../test/support/flow-lab.ts';
import { name } from '../../test/support/operator-lab.ts';
import type { OperationSource } from '../model/module-operations.ts';
import { requestOperation, runOperation } from '../requests/request-operation.ts';
import { type ModuleOperation, OPERATIONS } from '../status/module-object.ts';
import { moduleStatus } from '../status/module-status.ts';
import { moduleFacts } from '../views/collect-module-facts.ts';

const WEB = name('web');

/** The annotation of one Module object. */
class Annotation implements OperationSource {
  word: ModuleOperation | undefined;
  #isClaimed = false;

  put(word: ModuleOperation): void {
    this.word = word;
    this.#isClaimed = false;
  }

  of(module: string): ModuleOperation | undefined {
    return module === WEB && !this.#isClaimed ? this.word : undefined;
  }

  claim(): void {
    this.#isClaimed = true;
  }

  taken(): void {
    this.word = undefined;
  }
}

const anyResult: Arbitrary<HookResult> = record(
  {
    abortReconcile: boolean(),
    requeue: boolean(),
    requeueAfterMs: constantFrom(0, 1_000, 20_000),
  },
  { requiredKeys: ['abortReconcile'] },
);

const step = oneof(
  record({ do: constant('change' as const) }),
  record({ do: constant('converge' as const) }),
  record({ do: constant('disable' as const) }),
  record({
    do: constantFrom('command' as const, 'annotate' as const),
    operation: constantFrom(...OPERATIONS),
  }),
  record({
    do: constant('hook' as const),
    type: constantFrom(...FLOW_HOOK_TYPES),
    /** Nothing: the hook throws. */
    result: option(anyResult, { nil: undefined, freq: 5 }),
    times: nat({ max: 2 }),
  }),
  record({
    do: constant('deploy' as const),
    outcome: constantFrom(
      'well' as const,
      'fails' as const,
      'refused' as const,
      'held' as const,
      'hangs' as const,
    ),
  }),
  record({ do: constant('wait' as const), ms: constantFrom(1_000, 5_000, 30_000) }),
);
type Step = typeof step extends Arbitrary<infer T> ? T : never;

/** Changes and requests, by number, and how many of them are settled: done, failed for good, or ended by an abort. */
class Ledger {
  #last = 0;
  settled = 0;
  #lastForced = 0;
  #settledForced = 0;

  demand(isForced = false): void {
    this.#last += 1;
    if (isForced) this.#lastForced = this.#last;
  }

  get last(): number {
    return this.#last;
  }

  settle(number: number, isForced: boolean): void {
    this.settled = Math.max(this.settled, number);
    if (isForced) this.#settledForced = Math.max(this.#settledForced, number);
  }

  get isSettled(): boolean {
    return this.settled >= this.#last && this.#settledForced >= this.#lastForced;
  }
}

async function world(failurePolicy: 'block' | 'isolate') {
  const annotation = new Annotation();
  const flow = await flowLab(['web', 'z'], {}, { operationSource: annotation, failurePolicy });
  const { lab } = flow;
  const ledger = new Ledger();
  let outcome: Extract<Step, { do: 'deploy' }>['outcome'] = 'well';
  const hanging: (() => void)[] = [];
  const deploys = (isForced: boolean) => async (): Promise<void> => {
    const number = ledger.last;
    switch (outcome) {
      case 'fails':
        throw new Error('not now');
      case 'held':
        throw new OperatorError('RELEASE_NOT_READY', 'not yet', { retryAfterMs: 2_000 });
      case 'hangs':
        await new Promise((_resolve, reject) => hanging.push(() => reject(new Error('it hung'))));
        return;
      case 'refused':
        ledger.settle(number, true);
        throw new OperatorError('HELM_FAILED', 'never', { isPermanent: true });
      case 'well':
        ledger.settle(number, isForced);
    }
  };
  lab.obstacles.set('deploy web', deploys(false));
  lab.obstacles.set('force web', deploys(true));
  const request = (operation: ModuleOperation): void => {
    // What is requested of a module that is being disabled goes with it.
    if (!lab.enabled.has(WEB)) return;
    // It ends what was demanded before; whether it is done or replaced by a newer request, no more is lost.
    if (operation === 'abort') ledger.settle(ledger.last, true);
    else ledger.demand(operation === 'force-reconcile');
  };
  const act = async (what: Step): Promise<void> => {
    switch (what.do) {
      case 'change':
        if (!lab.enabled.has(WEB)) return;
        ledger.demand();
        lab.operator.router.queueModuleRun(WEB, 'change');
        return;
      case 'converge':
        ledger.demand();
        lab.startOver();
        return;
      case 'disable':
        if (!lab.enabled.delete(WEB)) {
          lab.enabled.add(WEB);
          ledger.demand();
        } else ledger.settle(ledger.last, true);
        lab.startOver();
        return;
      case 'command':
        if (requestOperation(lab.operator, WEB, what.operation) === 'requested') request(what.operation);
        return;
      case 'annotate':
        // A newer word takes the place of an older one, as the user wants it.
        if (annotation.word !== undefined || !lab.operator.registry.isWanted(WEB)) return;
        annotation.put(what.operation);
        request(what.operation);
        runOperation(lab.operator, WEB, what.operation);
        return;
      case 'hook': {
        let left = what.times + 1;
        const response = (): HookResult | undefined => {
          left -= 1;
          if (left < 0) return undefined;
          if (what.result === undefined) throw new Error('the hook fails');
          return what.result;
        };
        flow.responses = { ...flow.responses, [what.type satisfies FlowHookType]: response };
        return;
      }
      case 'deploy':
        outcome = what.outcome;
        return;
      case 'wait':
        await lab.clock.advance(what.ms);
    }
  };
  const mend = (): void => {
    outcome = 'well';
    flow.responses = {};
    for (const end of hanging) end();
  };
  const phase = (): string | undefined => {
    const facts = moduleFacts(lab.operator).find(({ explanation: { module } }) => module === WEB);
    const context = { nowMs: 0, operator: 'ns/cm', generation: 1, before: undefined };
    return facts && moduleStatus(facts, context).phase;
  };
  const waitsFor = (): readonly string[] =>
    moduleFacts(lab.operator).find(({ explanation: { module } }) => module === WEB)?.explanation.waitsFor ??
    [];
  return { lab, flow, ledger, act, mend, phase, waitsFor };
}

type World = Awaited<ReturnType<typeof world>>;

/** Empty where what is not done is pending and visible, as what has gone wrong for good is. */
function hidden({ lab, ledger, phase, waitsFor }: World): string {
  const is = phase() ?? 'none';
  if (!lab.operator.registry.isEnabled(WEB))
    return ['Deleting', 'none'].includes(is) ? '' : `disabled, but ${is}`;
  if (ledger.isSettled) return '';
  if (!['Init', 'Progressing', 'Failed'].includes(is)) return `pending, but ${is}`;
  const { queues } = lab.operator;
  const isQueued = queues.all.some(({ entries }) => entries.length > 0);
  const isComing = isQueued || lab.operator.router.requeues.dueMs(WEB) !== undefined;
  return isComing || waitsFor().join().includes('a flow hook ended the last one')
    ? ''
    : 'pending for no reason';
}

/** How it ended after everything was mended and the module was looked at once more. */
function ending({ lab, ledger, phase }: World): string {
  const is = phase() ?? 'none';
  if (!lab.enabled.has('web')) return lab.releases.has('web') ? 'not deleted' : is;
  return ledger.isSettled ? is : `something is lost, but ${is}`;
}

const anyHistory = tuple(
  constantFrom('block' as const, 'isolate' as const),
  array(tuple(step, nat({ max: 6 })), { minLength: 1, maxLength: 18 }),
);

test('what was changed or requested is done, or pending and visible, with any results of flow hooks and any failures', async () => {
  await assert(
    asyncProperty(anyHistory, async ([failurePolicy, steps]) => {
      const all = await world(failurePolicy);
      const { lab, ledger, act, mend } = all;
      await using _flow = all.flow;
      ledger.demand();
      await lab.converge();
      for (const [what, turns] of steps) {
        await act(what);
        // A history may be dense or leave the time to do everything; only then a state is one that lasts.
        const isQuiet = turns === 6;
        await (isQuiet ? lab.settle() : lab.turns(turns));
        expect(isQuiet ? hidden(all) : '').toBe('');
      }
      mend();
      // What hangs is ended without losing what it is for.
      await lab.settle();
      expect(hidden(all)).toBe('');
      await lab.pass(300_000, 3);
      // Nothing has changed: a module that is only looked at does what is still pending, and no more.
      await recheck(lab);
      await lab.pass(300_000, 2);
      expect(lab.enabled.has('web') ? ['Succeeded', 'Failed'] : ['none']).toContain(ending(all));
    }),
    { numRuns: 150, interruptAfterTimeLimit: 40_000 },
  );
}, 120_000);
