import { OperatorError } from '@addon-operator/base/errors';
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
} from 'fast-check';
import { expect, test } from 'vitest';
import { DeliveryLab, labDigest } from '../../test/support/delivery-lab.ts';

const MODULES = ['a', 'b', 'c'] as const;
const PARALLEL = 1;
const MINUTE = 60_000;

type Mode = 'auto' | 'patch' | 'manual';
type Step =
  | {
      readonly type: 'push' | 'release';
      readonly module: string;
      readonly minor: number;
      readonly isSigned: boolean;
      readonly isGood: boolean;
    }
  | { readonly type: 'move'; readonly module: string; readonly minor: number }
  | {
      readonly type: 'edit';
      readonly module: string;
      readonly mode: Mode;
      readonly isHeld: boolean;
      readonly rollback: boolean;
    }
  | { readonly type: 'approve'; readonly module: string; readonly minor: number }
  | { readonly type: 'delete' | 'create'; readonly module: string }
  | { readonly type: 'outage' | 'recovery' | 'lose' | 'newDefinitions' }
  | { readonly type: 'restart'; readonly losesStore: boolean }
  | { readonly type: 'refuse' | 'accept'; readonly module: string }
  | { readonly type: 'wait'; readonly minutes: number };

const module = constantFrom(...MODULES);
const minor = integer({ min: 0, max: 5 });
const bool = boolean();
const mode = constantFrom<Mode>('auto', 'auto', 'patch', 'manual');
const STEPS: Arbitrary<readonly Step[]> = array(
  oneof(
    {
      weight: 4,
      arbitrary: record({
        type: constantFrom('push' as const, 'release' as const, 'release' as const),
        module,
        minor,
        isSigned: bool,
        isGood: bool,
      }),
    },
    { weight: 4, arbitrary: record({ type: constant('move' as const), module, minor }) },
    {
      weight: 2,
      arbitrary: record({
        type: constant('edit' as const),
        module,
        mode,
        isHeld: bool,
        rollback: bool,
      }),
    },
    { weight: 2, arbitrary: record({ type: constant('approve' as const), module, minor }) },
    {
      weight: 1,
      arbitrary: record({ type: constantFrom('delete' as const, 'create' as const), module }),
    },
    {
      weight: 2,
      arbitrary: record({
        type: constantFrom(
          'outage' as const,
          'recovery' as const,
          'lose' as const,
          'newDefinitions' as const,
        ),
      }),
    },
    { weight: 2, arbitrary: record({ type: constant('restart' as const), losesStore: bool }) },
    {
      weight: 1,
      arbitrary: record({ type: constantFrom('refuse' as const, 'accept' as const), module }),
    },
    {
      weight: 6,
      arbitrary: record({ type: constant('wait' as const), minutes: constantFrom(1, 11, 25) }),
    },
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
);

/** Plays steps, and checks each switch against what the world was at that moment. */
class Model {
  readonly lab = new DeliveryLab({ updateParallel: PARALLEL, updateFailures: 0 });
  readonly specs = new Map<string, Record<string, unknown>>();
  readonly signed = new Set<string>();
  /** Digests that a channel or an approval has ever named, by module. */
  readonly wanted = new Map<string, Set<string>>(MODULES.map((name) => [name, new Set()]));
  readonly deleted = new Set<string>();
  readonly problems: string[] = [];
  #approvals = 0;
  /** By module and digest, how many switches to it were no return. */
  readonly #tries = new Map<string, number>();
  readonly #approved = new Map<string, number>();

  constructor() {
    this.lab.onSwitch = ({ module: name, digest }) => this.#checkSwitch(name, digest);
  }

  #checkSwitch(name: string, digest: string): void {
    const state = this.lab.cluster.states.get(name);
    const spec = this.specs.get(name);
    const isReturn = state?.intent?.isReturn === true;
    const what = `${name} ${digest.slice(7, 27)}`;
    if (state?.intent?.digest !== digest && state?.installed?.digest !== digest)
      this.problems.push(`${what}: no intent`);
    if (!this.signed.has(digest)) this.problems.push(`${what}: not verified`);
    if (!this.lab.store.contents.has(digest)) this.problems.push(`${what}: no content`);
    if (spec === undefined) this.problems.push(`${what}: without an install`);
    if (isReturn) {
      if (state?.lastGood?.digest !== digest)
        this.problems.push(`${what}: returns to what is not the last good version`);
      return;
    }
    if (this.wanted.get(name)?.has(digest) !== true) this.problems.push(`${what}: nobody wanted it`);
    if (spec !== undefined && 'hold' in spec && state?.installed?.digest !== digest)
      this.problems.push(`${what}: held`);
    const updating = MODULES.filter((other) => other !== name && isObserved(this.lab, other));
    if (state?.installed !== undefined && updating.length >= PARALLEL)
      this.problems.push(`${what}: beside an update of ${updating.join()}`);
    const failed = state?.failed.some((one) => one.digest === digest) ?? false;
    const key = `${name} ${digest}`;
    this.#tries.set(key, (this.#tries.get(key) ?? 0) + 1);
    if (failed && (this.#approved.get(key) ?? 0) === 0) this.problems.push(`${what}: failed before`);
  }

  async apply(): Promise<void> {
    await this.lab.apply(Object.fromEntries(this.specs));
  }

  #want(name: string, digest: string): void {
    this.wanted.get(name)?.add(digest);
  }

  async play(step: Step): Promise<void> {
    const { lab } = this;
    switch (step.type) {
      case 'release':
        await this.play({ ...step, type: 'push' });
        await this.play({ ...step, type: 'move' });
        return await this.play({ type: 'wait', minutes: 11 });
      case 'push': {
        const version = `1.${step.minor}.0`;
        const digest = labDigest(step.module, version);
        if (lab.registry.published(digest) !== undefined) return;
        lab.registry.push(step.module, version, {}, step.isSigned);
        if (step.isSigned) this.signed.add(digest);
        if (!step.isGood) lab.gates.set(`${step.module} ${version}`, { type: 'failed', reason: 'bad' });
        return;
      }
      case 'move': {
        const digest = labDigest(step.module, `1.${step.minor}.0`);
        if (lab.registry.published(digest) === undefined) return;
        lab.registry.tag(step.module, 'stable', digest);
        this.#want(step.module, digest);
        return;
      }
      case 'edit': {
        if (!this.specs.has(step.module)) return;
        this.specs.set(step.module, {
          update: { mode: step.mode },
          onFailure: { rollback: step.rollback },
          ...(step.isHeld && { hold: { reason: 'test' } }),
        });
        return await this.apply();
      }
      case 'approve': {
        const spec = this.specs.get(step.module);
        const digest = labDigest(step.module, `1.${step.minor}.0`);
        if (spec === undefined) return;
        this.#approvals += 1;
        this.#want(step.module, digest);
        this.#approved.set(`${step.module} ${digest}`, 1);
        const at = `2026-01-01T00:00:${String(this.#approvals).padStart(2, '0')}Z`;
        this.specs.set(step.module, { ...spec, approved: digest, approval: { at } });
        return await this.apply();
      }
      case 'delete':
        if (!this.specs.delete(step.module)) return;
        this.deleted.add(step.module);
        return await this.apply();
      case 'create':
        this.specs.set(step.module, {});
        return await this.apply();
      case 'newDefinitions':
        // All objects go with the definitions, and come back from git.
        await lab.apply({}, { areNewlyDefined: true });
        return await this.apply();
      case 'outage':
        lab.registry.fault = new OperatorError('REGISTRY_UNREACHABLE', 'away');
        return;
      case 'recovery':
        lab.registry.fault = undefined;
        return;
      case 'lose':
        lab.store.contents.clear();
        return;
      case 'restart':
        return await lab.restart({ losesStore: step.losesStore });
      case 'refuse':
        for (const version of [1, 2, 3])
          lab.refusals.set(`${step.module} 1.${version}.0`, {
            type: 'refused',
            reason: 'WouldFail',
            message: 'no',
          });
        return;
      case 'accept':
        lab.refusals.clear();
        return;
      case 'wait':
        return await lab.wait(step.minutes * MINUTE);
    }
  }
}

function isObserved(lab: DeliveryLab, name: string): boolean {
  const state = lab.cluster.states.get(name);
  return state?.observedSinceMs !== undefined && state.lastGood !== undefined;
}

test('whatever happens, what runs was verified and wanted, and nothing is removed but by its install', async () => {
  let switches = 0;
  await assert(
    asyncProperty(STEPS, async (steps) => {
      const model = new Model();
      const { lab } = model;
      for (const name of MODULES) {
        model.specs.set(name, { onFailure: { rollback: true } });
        await model.play({ type: 'push', module: name, minor: 0, isSigned: true, isGood: true });
        await model.play({ type: 'move', module: name, minor: 0 });
      }
      await lab.start();
      await model.apply();
      try {
        for (const step of steps) {
          await model.play(step);
          const removed = lab.removed.map((entry) => entry.slice(4));
          expect(removed.filter((name) => !model.deleted.has(name))).toEqual([]);
          expect(model.problems).toEqual([]);
        }
        // At last everything is there again: each module with an install runs with whole content.
        lab.registry.fault = undefined;
        lab.refusals.clear();
        await lab.wait(25 * MINUTE);
        expect(model.problems).toEqual([]);
        expect(lab.delivery.unavailable()).toEqual(new Map());
        const digests = [...lab.store.linked.values()];
        expect(digests.filter((digest) => !lab.store.contents.has(digest))).toEqual([]);
        const kept = [...model.specs.keys()].filter((name) => !model.deleted.has(name));
        expect(Object.keys(lab.running)).toEqual(expect.arrayContaining(kept));
        switches += lab.switches.length;
      } finally {
        await lab.stop();
      }
    }),
    { numRuns: 60 },
  );
  // The histories do something.
  expect(switches).toBeGreaterThan(200);
});
