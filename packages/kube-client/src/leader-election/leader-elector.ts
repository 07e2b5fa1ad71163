// Leader election by a Lease, as in client-go: `acquire` polls until the Lease can be taken, `hold` renews it
// until it is lost, `release` gives it up. What a reading means is decided by the pure functions of `lease-
// election.ts`, the moments of a term by `lease-term.ts`. Two rules keep two leaders from acting at once:
// only durations on the own steady clock count, never times written by others, and a holder stops by itself
// before others may take over. A write whose outcome is unknown is followed by a read.

import type { SteadyClock, WallClock } from '@addon-operator/base/clock';
import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { shortened } from '@addon-operator/concurrency/jitter';
import { withDeadline } from '../deadline.ts';
import type { LeaseObservation } from './lease-election.ts';
import {
  candidateAction,
  holderFinding,
  type LeaseTimes,
  observeLease,
  parseLeaseSpec,
  withoutReading,
} from './lease-election.ts';
import type { LeaseObject, LeaseStore } from './lease-store.ts';
import { type LeaseTerm, leaseTerm } from './lease-term.ts';
import { microTime } from './micro-time.ts';

/** Polls of a candidate, and attempts after a failed renewal, per retry period. */
const LOOKS_PER_PERIOD = 5;
/** How often one renewal is retried because another client wrote to the Lease. */
const MAX_CONFLICTS = 5;

export interface LeaderElectorOptions {
  readonly store: Pick<LeaseStore, 'read' | 'write'>;
  readonly identity: string;
  readonly times: LeaseTimes;
  /** Must never be turned back: deadlines are counted with it. */
  readonly steadyClock: SteadyClock;
  /** A number in [0, 1): the pauses are shortened by up to a tenth, never lengthened, since the term is built on them. */
  readonly random: () => number;
  /** For the times in the Lease. */
  readonly wallClock: WallClock;
  readonly log: Logger;
  /** Called after the lease was taken and after each renewal. */
  readonly onTerm: (term: LeaseTerm) => void;
  /** Called for each attempt to take or renew the lease that failed; a lease held by another client is not a failure. */
  readonly onFailure: () => void;
}

/** Why the lease was lost. */
export type LeaseLoss =
  /** This process must stop at `stopAtMs`; others wait until the end of the term. */
  | { readonly type: 'not-renewed' }
  /** Another replica may be active already. */
  | { readonly type: 'taken'; readonly by: string };

interface Holding {
  /** The Lease as we wrote it last; undefined after a write whose result is unknown. */
  object: LeaseObject | undefined;
  readonly acquireTime: string;
  readonly transitions: number;
  term: LeaseTerm;
}

/** Acquires, renews and releases one lease, for one process. */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  #observation: LeaseObservation | undefined;
  #holding: Holding | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
  }

  /** The holder of the lease at the last read; empty without one. */
  get holder(): string {
    return this.#observation?.spec?.holder ?? '';
  }

  /** Resolves once this process holds the lease; retries while the API server is away. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<void> {
    const { times, steadyClock, random, log, onFailure } = this.#options;
    const lookMs = times.retryPeriodMs / LOOKS_PER_PERIOD;
    let lastError = '';
    for (;;) {
      const pauseMs = shortened(lookMs, random);
      let waitMs = pauseMs;
      try {
        const untilMs = await this.#tryToAcquire(signal);
        if (untilMs === undefined) return;
        waitMs = Math.min(pauseMs, Math.max(0, untilMs - steadyClock.steadyMs()));
        lastError = '';
      } catch (error) {
        signal.throwIfAborted();
        onFailure();
        // Once for each error: candidates poll several times a second.
        const message = String(error);
        if (message !== lastError) log.warn({ error }, 'cannot request the lease, will retry');
        lastError = message;
      }
      await steadyClock.sleep(waitMs, signal);
    }
  }

  /**
   * Renews the lease until it is lost. Rejects with the signal's reason; the lease is held until its term ends then, or
   * until {@link release}.
   */
  async hold(signal: AbortSignal): Promise<LeaseLoss> {
    const holding = this.#held();
    const { times, steadyClock, random, log, onTerm, onFailure } = this.#options;
    let waitMs = shortened(times.retryPeriodMs, random);
    for (;;) {
      await steadyClock.sleep(Math.min(waitMs, holding.term.stopAtMs - steadyClock.steadyMs()), signal);
      const startMs = steadyClock.steadyMs();
      if (startMs >= holding.term.stopAtMs) return { type: 'not-renewed' };
      try {
        const limitMs = holding.term.stopAtMs - startMs;
        const error = (): Error => new OperatorError('LEASE_LOST', 'the lease was not renewed in time');
        const loss = await withDeadline({ clock: steadyClock, limitMs, error }, signal, (signal) =>
          this.#renew(holding, signal),
        );
        if (loss !== undefined) return loss;
        if (steadyClock.steadyMs() >= holding.term.stopAtMs) return { type: 'not-renewed' };
        holding.term = leaseTerm(times, startMs);
        onTerm(holding.term);
        waitMs = shortened(times.retryPeriodMs, random) - (steadyClock.steadyMs() - startMs);
      } catch (error) {
        signal.throwIfAborted();
        onFailure();
        const leftMs = Math.round(holding.term.stopAtMs - steadyClock.steadyMs());
        log.warn({ error, leftMs }, 'cannot renew the lease');
        waitMs = shortened(times.retryPeriodMs / LOOKS_PER_PERIOD, random);
      }
    }
  }

  /**
   * Releases the lease, so that others need not wait for its end. To be called when this process runs nothing any more.
   *
   * @throws OperatorError KUBE_API or KUBE_UNREACHABLE when it cannot be released: then it ends with its term
   */
  async release(signal: AbortSignal): Promise<void> {
    const { store, identity, wallClock } = this.#options;
    const holding = this.#held();
    const now = microTime(wallClock.wallMs());
    const spec = {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: holding.transitions,
    };
    this.#holding = undefined;
    let { object } = holding;
    for (let conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts += 1) {
      object ??= await store.read(signal);
      if (holderFinding(object?.['spec'], identity, holding.acquireTime).type !== 'ours') return;
      // A renewal that was cut off may arrive in between.
      if ((await store.write(object, spec, signal)) !== undefined) return;
      object = undefined;
    }
  }

  #held(): Holding {
    if (this.#holding === undefined) throw new OperatorError('INTERNAL', 'The lease is not held');
    return this.#holding;
  }

  /** Undefined when the lease was acquired; else the time before which a retry is pointless, infinite for the next poll. */
  async #tryToAcquire(signal: AbortSignal): Promise<number | undefined> {
    const { store, identity, times, steadyClock, wallClock, onTerm, log } = this.#options;
    const read = await this.#readAsCandidate(signal);
    const before = this.holder;
    this.#observation = observeLease(this.#observation, read?.['spec'], steadyClock.steadyMs());
    if (this.holder !== before) log.info({ holder: this.holder }, 'the lease has a holder');
    const action = candidateAction(this.#observation, identity, times.durationMs, steadyClock.steadyMs());
    if (action.type === 'wait') return action.untilMs;
    const startMs = steadyClock.steadyMs();
    const acquireTime = microTime(wallClock.wallMs());
    const transitions = read === undefined ? 0 : parseLeaseSpec(read['spec']).transitions + 1;
    const object = await store.write(read, this.#spec(acquireTime, transitions), signal);
    // The client that wrote to it most likely holds it now; a server that always rejects must not be called without a pause.
    if (object === undefined) return Number.POSITIVE_INFINITY;
    const term = leaseTerm(times, startMs);
    this.#observation = observeLease(this.#observation, object['spec'], steadyClock.steadyMs());
    this.#holding = { object, acquireTime, transitions, term };
    onTerm(term);
    return undefined;
  }

  /** A failed reading is remembered: a Lease that seemed deleted may exist again. */
  async #readAsCandidate(signal: AbortSignal): Promise<LeaseObject | undefined> {
    try {
      return await this.#options.store.read(signal);
    } catch (error) {
      this.#observation = withoutReading(this.#observation);
      throw error;
    }
  }

  /** Undefined when the lease is renewed. */
  async #renew(holding: Holding, signal: AbortSignal): Promise<LeaseLoss | undefined> {
    const { store, identity } = this.#options;
    for (let conflicts = 0; ; conflicts += 1) {
      const read = holding.object ?? (await store.read(signal));
      const finding = holderFinding(read?.['spec'], identity, holding.acquireTime);
      if (finding.type === 'taken') return finding;
      // Unknown until the write has succeeded.
      holding.object = undefined;
      const spec = this.#spec(holding.acquireTime, holding.transitions);
      // This process may have been suspended since the clock was read: a leader whose term is over writes nothing.
      holding.object = await store.write(read, spec, signal, holding.term.stopAtMs);
      if (holding.object !== undefined) return undefined;
      if (conflicts === MAX_CONFLICTS)
        throw new OperatorError(
          'KUBE_API',
          `Cannot renew the lease: other clients changed it ${conflicts} times`,
        );
    }
  }

  /** The fields that this process writes at a renewal. */
  #spec(acquireTime: string, leaseTransitions: number): Readonly<Record<string, unknown>> {
    const { identity, times, wallClock } = this.#options;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: times.durationMs / 1_000,
      acquireTime,
      renewTime: microTime(wallClock.wallMs()),
      leaseTransitions,
    };
  }
}
