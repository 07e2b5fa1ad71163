import type { DesiredObject } from '@addon-operator/helm/desired-objects';
import { helmsFields, helmsShare, writesText } from '@addon-operator/helm/field-ownership';
import { objectTitle } from '@addon-operator/helm/manifest-object';
import { canonicalJson } from '@addon-operator/json';
import type { ObjectMeta } from '@addon-operator/kube-client/kube-object';
import type { DriftedObject } from './drift-policy.ts';

/** A user who edits by hand, or a controller, may not be done with the first write. */
export const SETTLE_MS = 500;
/** An object that others keep writing to, harmlessly or in a fight, is compared this often at most. */
const REPEATED_INTERVAL_MS = 10_000;

/** What a change of an object's metadata may mean. */
type Suspicion = 'none' | 'untouched' | 'changed';

/** One object of a release, and what was seen of it so far. */
export class WatchedObject {
  readonly desired: DesiredObject;
  /** `<namespace>/<Kind>/<name>`. */
  readonly title: string;
  #dueMs: number | undefined;
  #drifted: DriftedObject | undefined;
  #failure: string | undefined;
  #unwatched: string | undefined;
  /** Of the last change that the server sent. */
  #signature: string | undefined;
  /** What helm owned then, and when the object was last found to be as applied. */
  #owned = '';
  #ownedWhenSame: string | undefined;
  #sameAtMs = Number.NEGATIVE_INFINITY;
  #comparedAtMs = Number.NEGATIVE_INFINITY;

  constructor(desired: DesiredObject) {
    this.desired = desired;
    this.title = objectTitle(desired);
  }

  /** When to compare it, on the steady clock; undefined when there is no reason to. */
  get dueMs(): number | undefined {
    return this.#dueMs;
  }

  get drifted(): DriftedObject | undefined {
    return this.#drifted;
  }

  /** Why the last comparison failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Why its changes are not watched. */
  get unwatched(): string | undefined {
    return this.#unwatched;
  }

  /** Sets {@link dueMs}; undefined: only its next change is a reason to compare it. */
  compareAt(dueMs: number | undefined): void {
    this.#dueMs = dueMs;
  }

  /** Takes the result of a comparison or a correction; undefined: the object is as applied, or gone. */
  noteDrift(drifted: DriftedObject | undefined): void {
    this.#drifted = drifted;
  }

  noteFailure(reason: string): void {
    this.#failure = reason;
  }

  /** Takes the reason why its changes are not watched, until {@link observe} gets the next one. */
  noteUnwatched(reason: string): void {
    this.#unwatched = reason;
  }

  /** Takes a change from a watch; without metadata the object is gone. Decides when to compare it. */
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
    // Writes that follow do not put it off: a controller may never be done.
    this.#dueMs = Math.min(this.#dueMs ?? Number.POSITIVE_INFINITY, this.#nextDueMs(nowMs));
    return 'changed';
  }

  /** To be called when a comparison begins; what it returns, when that has found the object as applied. */
  beginComparison(nowMs: number): (nowMs: number) => void {
    this.#dueMs = undefined;
    this.#failure = undefined;
    this.#comparedAtMs = nowMs;
    const owned = this.#owned;
    return (sameAtMs) => {
      this.#ownedWhenSame = owned;
      this.#sameAtMs = sameAtMs;
    };
  }

  #nextDueMs(nowMs: number): number {
    const soonMs = nowMs + SETTLE_MS;
    // It may have become right; whether it is changed back is another question.
    if (this.#drifted?.remedy.type === 'delayed')
      return Math.min(
        this.#drifted.remedy.dueMs,
        Math.max(soonMs, this.#comparedAtMs + REPEATED_INTERVAL_MS),
      );
    // No field was taken from helm since it was found harmless; a value that others own may still have changed.
    const isLikelyHarmless = this.#owned === this.#ownedWhenSame;
    return isLikelyHarmless ? Math.max(soonMs, this.#sameAtMs + REPEATED_INTERVAL_MS) : soonMs;
  }

  /** Whether the list of owners alone proves that the object is as helm applied it. */
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
 * Changes whenever a client may have changed what helm applied; a change of the status alone does not count. A generation is not enough: there
 * are kinds of which it stays the same, such as PriorityClass, and finalizers do not count in it.
 */
function signatureOf(metadata: ObjectMeta): string {
  const { labels, annotations, finalizers, ownerReferences, generation, resourceVersion, uid } = metadata;
  const content = [uid, labels, annotations, finalizers, ownerReferences, generation ?? resourceVersion];
  return canonicalJson([...content, writesText(metadata)]);
}
