import type { DesiredObject } from '@addon-operator/helm/desired-objects';
import { helmsFields, helmsShare, writesText } from '@addon-operator/helm/field-ownership';
import { objectTitle } from '@addon-operator/helm/manifest-object';
import { canonicalJson } from '@addon-operator/json';
import type { ObjectMeta } from '@addon-operator/kube-client/kube-object';
import type { DriftedObject } from './drift-policy.ts';

/**
 * A user or a controller may write several times: the comparison waits this long, in milliseconds.
 */
export const SETTLE_MS = 500;
/** The minimum interval of comparisons for an object that other clients keep writing to. */
const REPEATED_INTERVAL_MS = 10_000;

/** The meaning of a change of an object's metadata. */
type Suspicion = 'none' | 'untouched' | 'changed';

/** One object of a release, with everything that was observed of it. */
export class WatchedObject {
  readonly desired: DesiredObject;
  /** `<namespace>/<Kind>/<name>`. */
  readonly title: string;
  #dueMs: number | undefined;
  #drifted: DriftedObject | undefined;
  #failure: string | undefined;
  #unwatched: string | undefined;
  /** The signature of the last change. */
  #signature: string | undefined;
  /** The fields that helm owned at that time, and those at the last comparison without drift. */
  #owned = '';
  #ownedWhenSame: string | undefined;
  #sameAtMs = Number.NEGATIVE_INFINITY;
  #comparedAtMs = Number.NEGATIVE_INFINITY;

  constructor(desired: DesiredObject) {
    this.desired = desired;
    this.title = objectTitle(desired);
  }

  /**
   * The time of the next comparison, on the steady clock; undefined if there is no reason for one.
   */
  get dueMs(): number | undefined {
    return this.#dueMs;
  }

  get drifted(): DriftedObject | undefined {
    return this.#drifted;
  }

  /** The error of the last comparison. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Why its changes are not watched. */
  get unwatched(): string | undefined {
    return this.#unwatched;
  }

  /** Sets {@link dueMs}; undefined: it is compared only after its next change. */
  compareAt(dueMs: number | undefined): void {
    this.#dueMs = dueMs;
  }

  /**
   * Stores the result of a comparison or correction; undefined: the object is as applied, or gone.
   */
  noteDrift(drifted: DriftedObject | undefined): void {
    this.#drifted = drifted;
  }

  noteFailure(reason: string): void {
    this.#failure = reason;
  }

  /** Stores why its changes are not watched, until {@link observe} gets the next one. */
  noteUnwatched(reason: string): void {
    this.#unwatched = reason;
  }

  /**
   * Handles a change from a watch; without metadata the object is gone. Decides when to compare it.
   */
  observe(metadata: ObjectMeta | undefined, nowMs: number): Suspicion {
    this.#unwatched = undefined;
    const signature = metadata === undefined ? '' : signatureOf(metadata);
    if (metadata !== undefined && signature === this.#signature) return 'none';
    this.#signature = signature;
    this.#owned = metadata === undefined ? '' : helmsFields(metadata);
    if (metadata !== undefined && this.#isUntouched(metadata)) {
      this.#dueMs = undefined;
      this.#failure = undefined;
      return 'untouched';
    }
    // Further writes do not move the time: a controller may never stop writing.
    this.#dueMs = Math.min(this.#dueMs ?? Number.POSITIVE_INFINITY, this.#nextDueMs(nowMs));
    return 'changed';
  }

  /** Called when a comparison begins. The returned function is called if it found no drift. */
  beginComparison(nowMs: number): (nowMs: number) => void {
    this.#dueMs = undefined;
    this.#failure = undefined;
    this.#comparedAtMs = nowMs;
    // Taken now: a change during the comparison must not count as compared.
    const owned = this.#owned;
    return (sameAtMs) => {
      this.#ownedWhenSame = owned;
      this.#sameAtMs = sameAtMs;
    };
  }

  #nextDueMs(nowMs: number): number {
    const soonMs = nowMs + SETTLE_MS;
    // It may have become right in the meantime, so it is compared before the delayed correction.
    if (this.#drifted?.remedy.type === 'delayed')
      return Math.min(
        this.#drifted.remedy.dueMs,
        Math.max(soonMs, this.#comparedAtMs + REPEATED_INTERVAL_MS),
      );
    // The ownership is the same as at a comparison without drift; still, a value owned by others
    // may have changed.
    const isLikelyHarmless = this.#owned === this.#ownedWhenSame;
    return isLikelyHarmless ? Math.max(soonMs, this.#sameAtMs + REPEATED_INTERVAL_MS) : soonMs;
  }

  /** Whether the managed fields alone prove that the object is as helm applied it. */
  #isUntouched(metadata: ObjectMeta): boolean {
    switch (helmsShare(this.desired.fields, metadata)) {
      case 'all':
        return true;
      case 'unclear':
        return this.#drifted === undefined && this.#owned === this.#ownedWhenSame;
      case 'some':
        return false;
    }
  }
}

/**
 * A signature that changes whenever applied fields may have changed, but not with the status. A
 * generation is not enough: some kinds, such as PriorityClass, do not count it, and finalizers are
 * not part of it.
 */
function signatureOf(metadata: ObjectMeta): string {
  const { labels, annotations, finalizers, ownerReferences, generation, resourceVersion, uid } = metadata;
  const content = [uid, labels, annotations, finalizers, ownerReferences, generation ?? resourceVersion];
  return canonicalJson([...content, writesText(metadata)]);
}
