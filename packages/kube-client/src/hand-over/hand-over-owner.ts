// The owner's side of a hand-over, as pure functions: each reading of the entry and each moment leads to the
// next step. The safety rule is that owner and holder never act at the same time: a process that was
// permitted once counts as acting until it reports its end, or until its time has run out by the owner's
// clock, counted from its last sign of life.

import { type HandOverEntry, signOfLife } from './hand-over-entry.ts';

/** The owner's knowledge about something that it can hand over. */
export interface HandOverState {
  /** As it was read last. */
  readonly entry: HandOverEntry | undefined;
  /** Time of the last sign of life in the entry, by the clock of the owner. */
  readonly sinceMs: number;
  /** The process that was permitted last, and the end of its permission by the clock of the owner. */
  readonly actor: Actor | undefined;
}

interface Actor {
  readonly holder: string;
  readonly untilMs: number;
}

export const NOT_HANDED_OVER: HandOverState = { entry: undefined, sinceMs: 0, actor: undefined };

/** The next step of an owner. */
export type HandOverStep =
  /** The owner acts: no other process does, and none wants to. */
  | { readonly type: 'act' }
  /** The owner ends what it runs, then permits this process to act. */
  | { readonly type: 'hand-over'; readonly holder: string }
  /** The owner does nothing: another process acts, or may act. Until then by its clock, if nothing else is read. */
  | { readonly type: 'wait'; readonly untilMs: number }
  /** No process acts, and none wants it any more: the entry is removed, if it still is as it was read. */
  | { readonly type: 'take-back' };

/** Takes in a reading. The clock of a holder is never compared with that of the owner. */
export function observeHandOver(
  before: HandOverState,
  entry: HandOverEntry | undefined,
  nowMs: number,
): HandOverState {
  const isAlive = signOfLife(entry) !== signOfLife(before.entry);
  const sinceMs = isAlive ? nowMs : before.sinceMs;
  return { entry, sinceMs, actor: actorAfter(before, entry, sinceMs, nowMs) };
}

/** The process that may be acting after a reading. */
function actorAfter(
  before: HandOverState,
  entry: HandOverEntry | undefined,
  sinceMs: number,
  nowMs: number,
): Actor | undefined {
  const actor = before.actor ?? permittedEarlier(entry, nowMs);
  if (actor === undefined) return undefined;
  const { holder } = actor;
  if (entry?.holder === holder) return { holder, untilMs: sinceMs + entry.durationMs };
  if (entry?.releasedBy === holder) return undefined;
  // It may have renewed the entry after the last reading, and acts until it finds that the entry has changed.
  if (before.entry?.holder === holder) return { holder, untilMs: nowMs + before.entry.durationMs };
  return actor;
}

/** The owner may have been another process, whose permission counts. */
function permittedEarlier(entry: HandOverEntry | undefined, nowMs: number): Actor | undefined {
  if (entry?.note?.state !== 'accepted') return undefined;
  return { holder: entry.note.holder, untilMs: nowMs + entry.durationMs };
}

/** To be called before a process is permitted to act: whether the request arrived may never be known. */
export function permitHolder(state: HandOverState, holder: string): HandOverState {
  const durationMs = state.entry?.durationMs ?? 0;
  return { ...state, actor: { holder, untilMs: state.sinceMs + durationMs } };
}

/**
 * To be called when the owner has removed the entry as it was read last, and before anything else is read: its holder has not
 * renewed it, which an entry that another client removed does not show.
 */
export function removeHandOver(state: HandOverState): HandOverState {
  return { ...state, entry: undefined };
}

/**
 * The decision of the owner. `wait` also covers an actor whose entry is gone: it may not have noticed yet.
 */
export function nextHandOverStep({ entry, sinceMs, actor }: HandOverState, nowMs: number): HandOverStep {
  const isBusy = actor !== undefined && nowMs < actor.untilMs;
  const isHeld = entry !== undefined && entry.holder !== '' && nowMs < sinceMs + entry.durationMs;
  if (isBusy && actor.holder !== entry?.holder) return { type: 'wait', untilMs: actor.untilMs };
  if (isHeld) {
    const { note, holder, durationMs } = entry;
    const isPermitted = actor?.holder === holder && note?.holder === holder && note.state === 'accepted';
    return isPermitted ? { type: 'wait', untilMs: sinceMs + durationMs } : { type: 'hand-over', holder };
  }
  return entry === undefined ? { type: 'act' } : { type: 'take-back' };
}
