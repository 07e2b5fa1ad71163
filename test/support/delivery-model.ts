import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { fieldsOf } from '@addon-operator/json';
import minorOf from 'semver/functions/minor.js';
import { DeliveryLab, labDigest } from './delivery-lab.ts';

export const MODULES = ['a', 'b'] as const;
const PARALLEL = 1;
export const MINORS = [0, 1, 2, 3] as const;
const MINUTE = 60_000;
/** All versions that steps publish. */
const RANGE = '>=1.0.0 <2.0.0';

export type Mode = 'auto' | 'patch' | 'manual';
interface PushStep {
  readonly type: 'push' | 'release';
  readonly module: string;
  readonly minor: number;
  readonly isSigned: boolean;
  readonly isGood: boolean;
}

/** What people do with installs and sources. */
type Decision =
  | {
      readonly type: 'edit';
      readonly module: string;
      readonly mode: Mode;
      readonly isHeld: boolean;
      readonly rollback: boolean;
      readonly isRange: boolean;
    }
  | { readonly type: 'approve'; readonly module: string; readonly minor: number }
  | { readonly type: 'delete' | 'create' | 'rollback'; readonly module: string }
  | { readonly type: 'newDefinitions' | 'noSource' | 'source' };

export type DeliveryStep =
  | PushStep
  | Decision
  | { readonly type: 'move' | 'untag'; readonly module: string; readonly minor: number }
  | { readonly type: 'retag'; readonly module: string; readonly minor: number; readonly to: number }
  | { readonly type: 'empty'; readonly module: string }
  | { readonly type: 'outage' | 'recovery' | 'lose' }
  | { readonly type: 'restart'; readonly losesStore: boolean }
  | { readonly type: 'refuse' | 'accept'; readonly module: string }
  | { readonly type: 'wait'; readonly minutes: number };

const versionOf = (minor: number): string => `1.${minor}.0`;

/** Plays steps, and checks each switch against what people and the registry have said until then. */
export class DeliveryModel {
  readonly lab = new DeliveryLab({ updateParallel: PARALLEL, updateFailures: 0 });
  readonly specs = new Map<string, Record<string, unknown>>();
  readonly deleted = new Set<string>();
  readonly problems: string[] = [];
  /** What happened, by kind: histories in which nothing happens prove nothing. */
  readonly counts = { switches: 0, returns: 0, downgrades: 0 };
  readonly #signed = new Set<string>();
  /** `MODULE TAG DIGEST`: what tags have ever named. */
  readonly #named = new Set<string>();
  /** Decisions that no switch has used yet. */
  readonly #approvals = new Map<string, string>();
  /** The module that is rolled back by hand. */
  #rolledBack: string | undefined;
  /** Versions that run, as switches say. */
  readonly #running = new Map<string, string>();
  /** `MODULE VERSION` that ran at some time. */
  readonly #ran = new Set<string>();
  /** `MODULE VERSION` that failed, and were not approved since. */
  readonly #failed = new Set<string>();
  #approvalCount = 0;
  #hasSource = true;

  constructor() {
    this.lab.onSwitch = ({ module: name, digest, version }) => {
      this.#checkSwitch(name, digest, version);
    };
  }

  #checkSwitch(name: string, digest: string, version: string): void {
    const { lab } = this;
    this.#noteFailures();
    const before = this.#running.get(name);
    const state = lab.cluster.states.get(name);
    const isReturn = state?.intent?.isReturn === true;
    const report = (problem: string): void => {
      this.problems.push(`${name} ${before} to ${version}: ${problem}`);
    };
    const published = lab.registry.published(digest)?.facts.version;
    if (published !== version) report(`its digest is version ${published}`);
    if (state?.intent?.digest !== digest) report('no intent');
    if (!this.#signed.has(digest)) report('not verified');
    if (!lab.store.contents.has(digest)) report('no content');
    if (!this.specs.has(name)) report('without an install');
    if (isReturn) this.#checkReturn(name, digest, version, report);
    else this.#checkUpdate(name, digest, version, report);
    if (!lab.refusals.has(`${name} ${version}`)) this.#noteSwitch(name, digest, version, isReturn);
  }

  #checkReturn(name: string, digest: string, version: string, report: (problem: string) => void): void {
    if (!this.#ran.has(`${name} ${version}`)) report('returns to a version that never ran');
    if (this.#rolledBack === name) return;
    if (this.lab.cluster.states.get(name)?.lastGood?.digest !== digest)
      report('returns to a version that is not the last good one');
    if (!this.#failed.has(`${name} ${this.#running.get(name)}`))
      report('returns from a version that is good');
  }

  #checkUpdate(name: string, digest: string, version: string, report: (problem: string) => void): void {
    const before = this.#running.get(name);
    const spec = this.specs.get(name) ?? {};
    const isApproved = this.#approvals.get(name) === digest;
    const tags = 'version' in spec ? MINORS.map(versionOf) : ['stable'];
    if (!isApproved && !tags.some((tag) => this.#named.has(`${name} ${tag} ${digest}`))) report('not wanted');
    if (!isApproved && this.#failed.has(`${name} ${version}`)) report('failed before');
    if (before === undefined || before === version) return;
    if ('hold' in spec) report('held');
    if (isLower(version, before) && !isApproved) report('a downgrade without a decision');
    const { mode } = fieldsOf(spec['update']);
    if (!isApproved && (mode === 'manual' || mode === 'patch')) report(`not approved (${mode})`);
    const updating = MODULES.filter((other) => other !== name && isObserved(this.lab, other));
    if (updating.length >= PARALLEL) report(`beside an update of ${updating.join()}`);
  }

  #noteSwitch(name: string, digest: string, version: string, isReturn: boolean): void {
    const before = this.#running.get(name);
    this.counts.switches += 1;
    if (isReturn) this.counts.returns += 1;
    else if (before !== undefined && isLower(version, before)) this.counts.downgrades += 1;
    if (!isReturn && this.#approvals.get(name) === digest) {
      this.#approvals.delete(name);
      this.#failed.delete(`${name} ${version}`);
    }
    this.#running.set(name, version);
    this.#ran.add(`${name} ${version}`);
  }

  #noteFailures(): void {
    for (const [name, { failed }] of this.lab.cluster.states)
      for (const { version } of failed) this.#failed.add(`${name} ${version}`);
  }

  /** Problems until now; of what is installed nothing may be gone. */
  check(): readonly string[] {
    this.#noteFailures();
    const gone = [...this.#running.keys()].filter((name) => !this.lab.cluster.states.has(name));
    const removed = this.lab.removed.map((entry) => entry.slice(4)).filter((name) => !this.deleted.has(name));
    return [...this.problems, ...[...gone, ...removed].map((name) => `${name}: removed`)];
  }

  async apply(): Promise<void> {
    await this.lab.apply(Object.fromEntries(this.specs), { source: this.#hasSource });
  }

  #tag(name: string, tag: string, digest: string): void {
    this.lab.registry.tag(name, tag, digest);
    this.#named.add(`${name} ${tag} ${digest}`);
  }

  #set(name: string, spec: Record<string, unknown>): Promise<void> {
    this.specs.set(name, spec);
    if (spec['approved'] === undefined) this.#approvals.delete(name);
    return this.apply();
  }

  async play(step: DeliveryStep): Promise<void> {
    const { lab } = this;
    switch (step.type) {
      case 'release':
        this.#push(step);
        return await this.play({ ...step, type: 'move' });
      case 'push':
        this.#push(step);
        return;
      case 'move':
        return await this.#tagAgain(step.module, 'stable', step.minor);
      case 'retag':
        return await this.#tagAgain(step.module, versionOf(step.minor), step.to);
      case 'untag':
        lab.registry.untag(step.module, versionOf(step.minor));
        return;
      case 'empty':
        for (const tag of ['stable', ...MINORS.map(versionOf)]) lab.registry.untag(step.module, tag);
        return;
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
        for (const minor of [1, 2, 3])
          lab.refusals.set(`${step.module} ${versionOf(minor)}`, {
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
      case 'edit':
      case 'approve':
      case 'delete':
      case 'create':
      case 'rollback':
      case 'newDefinitions':
      case 'noSource':
      case 'source':
        return await this.#decide(step);
    }
  }

  /** A tag is moved to a version that was published. */
  async #tagAgain(name: string, tag: string, minor: number): Promise<void> {
    const digest = labDigest(name, versionOf(minor));
    if (this.lab.registry.published(digest) === undefined) return;
    this.#tag(name, tag, digest);
    await this.lab.wait(11 * MINUTE);
  }

  #push({ module, minor, isSigned, isGood }: PushStep): void {
    const { registry, gates } = this.lab;
    const version = versionOf(minor);
    const digest = labDigest(module, version);
    if (registry.published(digest) === undefined) {
      registry.push(module, version, {}, isSigned);
      if (isSigned) this.#signed.add(digest);
      if (!isGood) gates.set(`${module} ${version}`, { type: 'failed', reason: 'bad' });
    }
    this.#tag(module, version, digest);
  }

  async #decide(step: Decision): Promise<void> {
    const { lab } = this;
    switch (step.type) {
      case 'edit':
        if (!this.specs.has(step.module)) return;
        return await this.#set(step.module, {
          update: { mode: step.mode },
          onFailure: { rollback: step.rollback },
          ...(step.isHeld && { hold: { reason: 'test' } }),
          ...(step.isRange && { version: { range: RANGE } }),
        });
      case 'approve': {
        const spec = this.specs.get(step.module);
        const digest = labDigest(step.module, versionOf(step.minor));
        if (spec === undefined) return;
        this.#approvalCount += 1;
        this.#approvals.set(step.module, digest);
        const at = `2026-01-01T00:00:${String(this.#approvalCount).padStart(2, '0')}Z`;
        return await this.#set(step.module, { ...spec, approved: digest, approval: { at } });
      }
      case 'create':
        return await this.#set(step.module, {});
      case 'delete':
        if (!this.specs.delete(step.module)) return;
        this.deleted.add(step.module);
        await this.apply();
        this.#approvals.delete(step.module);
        this.#running.delete(step.module);
        for (const minor of MINORS) this.#failed.delete(`${step.module} ${versionOf(minor)}`);
        return;
      case 'rollback':
        this.#rolledBack = step.module;
        await lab.delivery.rollback(step.module, {}, new AbortController().signal).catch((error: unknown) => {
          if (
            !hasCode(error, 'MODULE_UNKNOWN') &&
            !hasCode(error, 'REQUEST_REFUSED') &&
            !hasCode(error, 'SOURCE_INVALID')
          )
            throw error;
        });
        await lab.quiet();
        this.#rolledBack = undefined;
        return;
      case 'newDefinitions':
        // All objects go with the definitions, and come back from git.
        await lab.apply({}, { areNewlyDefined: true });
        return await this.apply();
      case 'noSource':
      case 'source':
        this.#hasSource = step.type === 'source';
        return await this.apply();
    }
  }
}

function isLower(version: string, than: string): boolean {
  return minorOf(version) < minorOf(than);
}

function isObserved(lab: DeliveryLab, name: string): boolean {
  const state = lab.cluster.states.get(name);
  return state?.observedSinceMs !== undefined && state.lastGood !== undefined;
}
