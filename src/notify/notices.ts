/**
 * From the states of modules to notices, one sink at a time: which change is worth a message, and when. Pure: time is a
 * parameter, and what a sink was sent is passed in and returned. `start-notifying.ts` calls it, `notice-sender.ts` sends.
 */

import { createHash } from 'node:crypto';
import type { ModuleStatus, ModuleSummary } from '../status/module-explanation.ts';

/** States that need a person, unless they end by themselves. */
export const PROBLEMS = ['failing', 'isolated', 'held', 'unauthorized', 'held-up'] as const;
/** At most one notice in this time about a module in one state. */
export const FLAPPING_MS = 5 * 60_000;

/** One message about one module. Times are RFC 3339 in UTC. */
export interface Notice {
  /** The same for each sink and each retry. */
  readonly id: string;
  /** `resolved`: a problem that was sent has ended. `changed`: a state that is no problem, and that the sink wants. */
  readonly type: 'problem' | 'resolved' | 'changed';
  readonly module: string;
  readonly status: ModuleStatus;
  readonly since: string;
  /** The beginning of the problem that lasts or has ended; null for `changed`. */
  readonly problemSince: string | null;
  /** Why it is in this state; may contain secrets until it is redacted. */
  readonly message: string;
  /** The command or edit that fixes it; null without any. */
  readonly remedy: string | null;
  readonly version: string | null;
  readonly revision: number | null;
}

/** What one sink was sent about one module. */
interface Sent {
  readonly notice: Notice | undefined;
  /** The beginning of a problem whose end was not sent. */
  readonly problemSince: string | undefined;
  readonly lastMs: number;
  readonly lastMsOf: ReadonlyMap<ModuleStatus, number>;
}

/** What one sink was sent, by module. */
export type SentNotices = ReadonlyMap<string, Sent>;

/** Which notices a sink wants. */
export interface NoticeRules {
  readonly states: readonly ModuleStatus[];
  /** A problem that lasts is sent again after this time, with the same id; undefined: once is enough. */
  readonly repeatMs: number | undefined;
}

export interface Moment {
  /** Of a clock that is never set. */
  readonly steadyMs: number;
  /** RFC 3339 in UTC. */
  readonly iso: string;
}

const UNSENT: Sent = {
  notice: undefined,
  problemSince: undefined,
  lastMs: Number.NEGATIVE_INFINITY,
  lastMsOf: new Map(),
};

/**
 * The notices that are due now, and what was sent with them. A state that came too soon after the last notice about it is
 * no notice yet: a later call returns it, if it still lasts then.
 *
 * @param modules all modules that the sink wants to hear about
 */
export function dueNotices(
  sent: SentNotices,
  modules: readonly ModuleSummary[],
  now: Moment,
  rules: NoticeRules,
): { readonly sent: SentNotices; readonly notices: readonly Notice[] } {
  const present = new Set(modules.map(({ module }) => module));
  const next = new Map<string, Sent>();
  const notices: Notice[] = [];
  for (const summary of modules) {
    const before = sent.get(summary.module) ?? UNSENT;
    const notice = newNotice(before, summary, now, rules) ?? repeated(before, now, rules);
    if (notice !== undefined) notices.push(notice);
    next.set(summary.module, notice === undefined ? before : afterNotice(before, notice, now));
  }
  for (const [module, { notice, problemSince }] of sent)
    if (notice !== undefined && problemSince !== undefined && !present.has(module))
      notices.push(endOfRemoved(notice, problemSince, now));
  return { sent: next, notices };
}

function newNotice(
  before: Sent,
  summary: ModuleSummary,
  { steadyMs }: Moment,
  { states }: NoticeRules,
): Notice | undefined {
  const { module, status, since, version, revision } = summary;
  const type = typeOf(before, status, states);
  if (type === undefined) return undefined;
  const id = idOf(module, status, since);
  if (id === before.notice?.id) return undefined;
  if (steadyMs - (before.lastMsOf.get(status) ?? Number.NEGATIVE_INFINITY) < FLAPPING_MS) return undefined;
  const problemSince = type === 'changed' ? null : (before.problemSince ?? since);
  const [message, remedy] = [messageOf(type, summary), summary.remedy ?? null];
  return { id, type, module, status, since, problemSince, message, remedy, version, revision };
}

function typeOf(
  { problemSince }: Sent,
  status: ModuleStatus,
  states: readonly ModuleStatus[],
): Notice['type'] | undefined {
  if (isProblem(status)) return states.includes(status) ? 'problem' : undefined;
  if (problemSince !== undefined && (status === 'ready' || status === 'disabled')) return 'resolved';
  return states.includes(status) ? 'changed' : undefined;
}

export function isProblem(status: ModuleStatus): boolean {
  return PROBLEMS.some((problem) => problem === status);
}

function messageOf(type: Notice['type'], summary: ModuleSummary): string {
  const { status, lastError, heldUpBy, waitsFor, reason } = summary;
  if (type === 'resolved' && status === 'ready') return 'the problem has ended';
  return lastError ?? heldUpBy ?? waitsFor[0] ?? reason;
}

/** A receiver that forgets what it does not hear of is reminded for as long as the problem lasts. */
function repeated({ notice, problemSince, lastMs }: Sent, now: Moment, { repeatMs }: NoticeRules) {
  const isDue = repeatMs !== undefined && now.steadyMs - lastMs >= repeatMs;
  return isDue && problemSince !== undefined ? notice : undefined;
}

function afterNotice(before: Sent, notice: Notice, { steadyMs }: Moment): Sent {
  const isRepeated = notice === before.notice;
  return {
    notice,
    problemSince: problemAfter(before, notice),
    lastMs: steadyMs,
    lastMsOf: isRepeated ? before.lastMsOf : new Map(before.lastMsOf).set(notice.status, steadyMs),
  };
}

function problemAfter({ problemSince }: Sent, notice: Notice): string | undefined {
  switch (notice.type) {
    case 'problem':
      return notice.problemSince ?? notice.since;
    case 'resolved':
      return undefined;
    case 'changed':
      return problemSince;
  }
}

/** A module that does not exist any more has no problem. */
function endOfRemoved({ module, version, revision }: Notice, problemSince: string, { iso }: Moment): Notice {
  return {
    id: idOf(module, 'disabled', iso),
    type: 'resolved',
    module,
    status: 'disabled',
    since: iso,
    problemSince,
    message: 'the module was removed',
    remedy: null,
    version,
    revision,
  };
}

function idOf(module: string, status: ModuleStatus, since: string): string {
  return createHash('sha256').update([module, status, since].join('\n')).digest('hex').slice(0, 32);
}
