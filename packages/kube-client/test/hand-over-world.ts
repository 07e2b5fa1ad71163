import { type HandOverEntry, type OwnerNote, signOfLife } from '../src/hand-over/hand-over-entry.ts';
import {
  type HandOverState,
  NOT_HANDED_OVER,
  nextHandOverStep,
  observeHandOver,
  permitHolder,
  removeHandOver,
} from '../src/hand-over/hand-over-owner.ts';

/** Of the entry, in ticks. */
export const TIMES = { duration: 30, renewDeadline: 20, retry: 6 };
/** A hand-over, and a return, take less. */
const MAX_WAIT = 200;
/** With it some renewals are in time, and others are not. */
const MAX_DELAY = 5;
/** The owner may learn late of changes: its watch was interrupted. */
const MAX_LAG = 30;

/** Actions of users and failures, at any time. */
export type Event =
  | { readonly type: 'start' | 'force' | 'crash' | 'give-back'; readonly holder: number }
  | { readonly type: 'want-back' | 'remove' | 'restart-owner' };

/** The cluster, its owner and those who want something of it; requests and responses take their time. */
export class World {
  now = 0;
  entry: HandOverEntry | undefined;
  #version = 0;
  readonly random: (bound: number) => number;
  readonly #due: { readonly at: number; readonly act: () => void }[] = [];
  readonly owner: Owner;
  readonly holders: Holder[] = [];

  constructor(random: (bound: number) => number) {
    this.random = random;
    this.owner = new Owner(this);
  }

  later(act: () => void, ticks = this.random(MAX_DELAY)): void {
    this.#due.push({ at: this.now + ticks, act });
  }

  /** A reading that arrives after a while, of the state in between. */
  read(use: (entry: HandOverEntry | undefined, version: number) => void): void {
    this.later(() => {
      const { entry } = this;
      const version = this.#version;
      this.later(() => use(entry, version));
    });
  }

  /** A write that is refused if the entry is another one than `version` by then. */
  write(
    version: number,
    change: (entry: HandOverEntry | undefined) => HandOverEntry | undefined,
    done: (isWritten: boolean) => void = () => undefined,
  ): void {
    this.later(() => {
      const isSame = version === this.#version;
      if (isSame) this.set(change(this.entry));
      this.later(() => done(isSame));
    });
  }

  set(entry: HandOverEntry | undefined): void {
    this.entry = entry;
    this.#version += 1;
  }

  tick(): void {
    this.now += 1;
    const due = this.#due.filter(({ at }) => at <= this.now);
    for (const one of due) this.#due.splice(this.#due.indexOf(one), 1);
    for (const { act } of due) act();
    this.owner.tick();
    for (const holder of this.holders) holder.tick();
  }
}

/** The side of the operator, as `HandOvers` has it. */
class Owner {
  readonly #world: World;
  #generation = 0;
  #state: HandOverState = NOT_HANDED_OVER;
  #isAway = true;
  #isBusy = false;
  #isReading = false;
  #runsUntil = 0;
  #readsAt = 0;

  constructor(world: World) {
    this.#world = world;
    this.#read();
  }

  /** While it runs something of its own. */
  get acts(): boolean {
    return this.#world.now < this.#runsUntil;
  }

  restart(): void {
    this.#generation += 1;
    this.#state = NOT_HANDED_OVER;
    this.#isAway = true;
    this.#isBusy = false;
    this.#isReading = false;
    this.#runsUntil = 0;
    this.#read();
  }

  tick(): void {
    if (!this.#isReading && this.#world.now >= this.#readsAt) this.#read();
    if (!this.#isAway && !this.acts) this.#runsUntil = this.#world.now + 3;
  }

  #read(): void {
    const generation = this.#generation;
    this.#isReading = true;
    this.#world.read((entry, version) => {
      if (generation !== this.#generation) return;
      this.#isReading = false;
      this.#readsAt = this.#world.now + this.#world.random(this.#world.random(MAX_LAG) + 1);
      this.#observe(entry, version);
    });
  }

  #observe(entry: HandOverEntry | undefined, version: number): void {
    this.#state = observeHandOver(this.#state, entry, this.#world.now);
    const step = nextHandOverStep(this.#state, this.#world.now);
    if (step.type !== 'act') this.#isAway = true;
    if (this.#isBusy) return;
    if (step.type === 'act') this.#isAway = false;
    else if (step.type === 'take-back') this.#takeBack(version);
    else if (step.type === 'hand-over') this.#handOver(step.holder);
  }

  #takeBack(version: number): void {
    const generation = this.#generation;
    const sign = signOfLife(this.#state.entry);
    let isRemoved = false;
    // Nothing is read in the meantime.
    this.#isReading = true;
    this.#world.write(
      version,
      (entry) => {
        isRemoved = signOfLife(entry) === sign;
        return isRemoved ? undefined : entry;
      },
      (isWritten) => {
        if (generation !== this.#generation) return;
        this.#isReading = false;
        if (isWritten && isRemoved) this.#state = removeHandOver(this.#state);
      },
    );
  }

  #handOver(holder: string): void {
    const generation = this.#generation;
    const isCurrent = (): boolean => generation === this.#generation;
    this.#isBusy = true;
    this.#world.later(
      () => {
        if (!isCurrent()) return;
        if (this.#state.entry?.holder !== holder) {
          this.#isBusy = false;
          return;
        }
        this.#state = permitHolder(this.#state, holder);
        const note: OwnerNote = { holder, by: 'owner', state: 'accepted', facts: {} };
        this.#world.read((_read, version) => {
          if (!isCurrent()) return;
          this.#world.write(
            version,
            (entry) => (entry?.holder === holder ? { ...entry, note } : entry),
            () => {
              if (isCurrent()) this.#isBusy = false;
            },
          );
        });
      },
      Math.max(1, this.#runsUntil - this.#world.now),
    );
  }
}

/** A process that wants it: `addon-operator dev`, with the election of a Lease. */
export class Holder {
  readonly name: string;
  readonly #world: World;
  #isForced: boolean;
  #phase: 'wanting' | 'holding' | 'over' = 'wanting';
  #seen: { readonly sign: string; readonly since: number } | undefined;
  #stopAt = 0;
  #isPermitted = false;
  #isCrashed = false;
  #isBusy = false;
  #nextAt = 0;

  constructor(world: World, name: string, isForced: boolean) {
    this.#world = world;
    this.name = name;
    this.#isForced = isForced;
  }

  get acts(): boolean {
    return this.#phase === 'holding' && this.#isPermitted && this.#world.now < this.#stopAt;
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  crash(): void {
    this.#phase = 'over';
    this.#isCrashed = true;
  }

  giveBack(): void {
    const wasHolding = this.#phase === 'holding' && this.#world.now < this.#stopAt;
    this.#phase = 'over';
    if (!wasHolding) return;
    const { name } = this;
    this.#world.read((entry, version) => {
      if (entry?.holder !== name) return;
      this.#world.write(version, () => ({
        ...entry,
        holder: '',
        releasedBy: name,
        renewTime: `${this.#world.now}`,
      }));
    });
  }

  /** It acts no more, and notes that unless it is killed. */
  #end(): void {
    this.#phase = 'over';
    this.#noteEnd();
  }

  #noteEnd(): void {
    const { name } = this;
    this.#world.read((entry, version) => {
      if (entry === undefined || this.#isCrashed) return;
      this.#world.write(
        version,
        () => ({ ...entry, holder: entry.holder === name ? '' : entry.holder, releasedBy: name }),
        (isWritten) => {
          if (!isWritten) this.#noteEnd();
        },
      );
    });
  }

  tick(): void {
    if (this.#phase === 'holding' && this.#world.now >= this.#stopAt) this.#end();
    if (this.#phase === 'over' || this.#isBusy || this.#world.now < this.#nextAt) return;
    this.#isBusy = true;
    const sentAt = this.#world.now;
    this.#world.read((entry, version) => {
      if (this.#phase === 'wanting') this.#want(entry, version);
      else if (this.#phase === 'holding') this.#renew(entry, version, sentAt);
    });
  }

  #want(entry: HandOverEntry | undefined, version: number): void {
    const { now } = this.#world;
    const sign = signOfLife(entry);
    if (this.#seen?.sign !== sign) this.#seen = { sign, since: now };
    const isLapsed = now >= this.#seen.since + TIMES.duration;
    if (entry !== undefined && entry.holder !== '' && !isLapsed && !this.#isForced) {
      this.#isBusy = false;
      return;
    }
    this.#write(version, now);
  }

  #renew(entry: HandOverEntry | undefined, version: number, sentAt: number): void {
    if (entry !== undefined && entry.holder !== this.name) {
      this.#end();
      return;
    }
    if (entry?.note?.holder === this.name && entry.note.state === 'accepted') this.#isPermitted = true;
    if (this.#world.now >= this.#stopAt) return;
    this.#write(version, Math.min(sentAt, this.#world.now));
  }

  #write(version: number, sentAt: number): void {
    const { name } = this;
    this.#world.write(
      version,
      (entry) => ({
        releasedBy: '',
        note: undefined,
        ...entry,
        holder: name,
        durationMs: TIMES.duration,
        acquireTime: name,
        renewTime: `${sentAt}`,
      }),
      (isWritten) => {
        this.#isBusy = false;
        if (this.#phase === 'over') return;
        this.#nextAt = this.#world.now + (isWritten ? TIMES.retry : 1);
        if (!isWritten) return;
        this.#isForced = false;
        this.#phase = 'holding';
        this.#stopAt = Math.max(this.#stopAt, sentAt + TIMES.renewDeadline);
      },
    );
  }
}

export function happen(world: World, event: Event): void {
  switch (event.type) {
    case 'start':
    case 'force':
      world.holders.push(new Holder(world, `holder ${world.holders.length}`, event.type === 'force'));
      return;
    case 'crash':
      world.holders[event.holder]?.crash();
      return;
    case 'give-back':
      world.holders[event.holder]?.giveBack();
      return;
    case 'want-back':
      if (world.entry !== undefined) world.set({ ...world.entry, holder: '' });
      return;
    case 'remove':
      world.set(undefined);
      return;
    case 'restart-owner':
      world.owner.restart();
  }
}

/** Ticks until something is so; undefined if it is not in time. */
export function ticksUntil(world: World, isSo: () => boolean): number | undefined {
  for (let ticks = 0; ticks < MAX_WAIT; ticks += 1) {
    if (isSo()) return ticks;
    world.tick();
  }
  return undefined;
}

/** Lets a tick pass, and returns who acts. */
export function actorsAfterTick(world: World): readonly string[] {
  world.tick();
  const active = world.holders.filter((holder) => holder.acts).map(({ name }) => name);
  return world.owner.acts ? [...active, 'owner'] : active;
}
