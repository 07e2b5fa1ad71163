/**
 * The `status` of ModuleSource and ModuleInstall, by the conventions of kstatus: Ready, and Reconciling or Stalled while it is not.
 * Pure; times of conditions come from the status before.
 */

import { isoTime } from '@addon-operator/concurrency/bounded-time';
import { fieldsOf, isObject } from '@addon-operator/json';
import { explainWait, type Pending, type PendingReason } from './decide.ts';
import type { InstallView, SourceView } from './delivery-view.ts';
import type { InstalledVersion } from './install-state.ts';

export interface DeliveryStatusContext {
  /** The status in the cluster. */
  readonly before: unknown;
  readonly nowMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Verdict {
  readonly ready: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  /** Whether it goes on by itself, or a person has to act. */
  readonly state?: 'Reconciling' | 'Stalled';
}

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Reasons that no time ends. */
const STALLING: ReadonlySet<PendingReason> = new Set([
  'ArtifactInvalid',
  'Failed',
  'NeedsApproval',
  'NotFound',
  'NotLoadable',
  'RequirementMissing',
  'SettingsInvalid',
  'Unverified',
  'VersionChanged',
  'WouldFail',
]);
const MAX_MESSAGE_CHARACTERS = 4_096;
const MAX_FAILED = 10;

/** The status of a ModuleSource. Fields without a value are undefined, which JSON leaves out. */
export function sourceStatus(view: SourceView, context: DeliveryStatusContext): Fields {
  const { generation, lastSuccessMs, lastAttemptMs, modules } = view;
  return {
    observedGeneration: generation,
    lastSuccess: timeOf(lastSuccessMs),
    lastAttempt: timeOf(lastAttemptMs),
    modules,
    conditions: conditionsOf(sourceVerdict(view), [], generation, context),
  };
}

function sourceVerdict({ invalid, problem, lastSuccessMs, modules }: SourceView): Verdict {
  if (invalid !== undefined) return no('InvalidSpec', invalid, 'Stalled');
  if (problem !== undefined)
    return no('SourceUnavailable', `${problem}; nothing is changed, it is tried again`);
  if (lastSuccessMs === undefined) return no('Progressing', 'it is being read for the first time');
  return { ready: 'True', reason: 'Succeeded', message: `versions of ${modules} modules were looked up` };
}

/** The status of a ModuleInstall. */
export function installStatus(view: InstallView, context: DeliveryStatusContext): Fields {
  const { generation, installed, lastGood, wanted, pending, failed, history } = view;
  return {
    observedGeneration: generation,
    installed: installed && shownVersion(installed),
    lastGood: lastGood && shownVersion(lastGood),
    // The API server refuses fields that the definition lacks.
    wanted: wanted?.version === undefined ? undefined : { version: wanted.version, digest: wanted.digest },
    pending: pending && shownPending(pending),
    failed:
      failed.length === 0
        ? undefined
        : failed.slice(-MAX_FAILED).map(({ why, ...one }) => ({ ...shownVersion(one), why })),
    history:
      history.length === 0
        ? undefined
        : history.map(({ outcome, reason, ...one }) => ({
            ...shownVersion(one),
            outcome,
            reason,
          })),
    conditions: conditionsOf(installVerdict(view), partsOf(view), generation, context),
  };
}

function installVerdict(view: InstallView): Verdict {
  const { installed, invalid, missing, pending, sourceProblem, problem } = view;
  if (invalid !== undefined) return no('InvalidSpec', invalid, 'Stalled');
  if (missing !== undefined)
    return no('SourceUnavailable', `${missing}; the module is neither run nor removed`, 'Stalled');
  if (installed === undefined) {
    if (problem !== undefined) return no('Failed', problem);
    if (pending !== undefined)
      return no(
        pending.reason,
        explainWait(pending),
        STALLING.has(pending.reason) ? 'Stalled' : 'Reconciling',
      );
    return sourceProblem === undefined
      ? no('Progressing', 'its version is being looked up')
      : no('SourceNotReady', sourceProblem, 'Stalled');
  }
  const { version } = installed;
  const { disabled } = view;
  if (view.isUpdating && disabled === undefined)
    return no('Updating', `${version} is observed: ${view.waitsFor ?? 'it begins to run'}`);
  if (problem !== undefined) return no('Failed', problem);
  if (view.hasFailed) {
    const why = view.failed.findLast(({ digest }) => digest === installed.digest)?.why ?? '';
    return no('UpdateFailed', `${version} has failed: ${why}`, 'Stalled');
  }
  // All that was asked for is done: a wait for Ready ends, and says that nothing runs.
  if (disabled !== undefined)
    return {
      ready: 'True',
      reason: 'Disabled',
      message: `${version} is in the store and does not run, because the module is disabled: ${disabled}`,
    };
  if (view.notReady !== undefined) return no('ModuleNotReady', view.notReady);
  return { ready: 'True', reason: 'Succeeded', message: `${version} runs` };
}

function partsOf({ installed, pending, sourceProblem, wanted, source }: InstallView): readonly Condition[] {
  return [
    installed === undefined
      ? condition('Installed', 'False', 'NotInstalled', 'no version is installed')
      : condition('Installed', 'True', 'Installed', `${installed.version} is installed`),
    pending === undefined
      ? condition('UpdatePending', 'False', 'UpToDate', 'no version waits')
      : condition('UpdatePending', 'True', pending.reason, explainWait(pending)),
    sourceProblem === undefined
      ? condition(
          'SourceReady',
          wanted === undefined ? 'Unknown' : 'True',
          'Succeeded',
          `ModuleSource ${source ?? ''}`,
        )
      : condition('SourceReady', 'False', 'SourceUnavailable', sourceProblem),
  ];
}

function no(reason: string, message: string, state: 'Reconciling' | 'Stalled' = 'Reconciling'): Verdict {
  return { ready: 'False', reason, message, state };
}

function condition(type: string, status: Condition['status'], reason: string, message: string): Condition {
  return { type, status, reason, message };
}

function conditionsOf(
  { ready, reason, message, state }: Verdict,
  parts: readonly Condition[],
  generation: number | undefined,
  { before, nowMs }: DeliveryStatusContext,
): readonly Fields[] {
  const all = [
    condition('Ready', ready, reason, message),
    progress('Reconciling', state, reason, message),
    progress('Stalled', state, reason, message),
    ...parts,
  ];
  const known = fieldsOf(before)['conditions'];
  const old: readonly unknown[] = Array.isArray(known) ? known : [];
  return all.map((one) => {
    const same = old.find(
      (each) => isObject(each) && each['type'] === one.type && each['status'] === one.status,
    );
    const since = fieldsOf(same)['lastTransitionTime'];
    return {
      ...one,
      message: cut(one.message),
      lastTransitionTime: typeof since === 'string' ? since : timeOf(nowMs),
      observedGeneration: generation,
    };
  });
}

function progress(type: string, state: Verdict['state'], reason: string, message: string): Condition {
  return state === type ? condition(type, 'True', reason, message) : condition(type, 'False', reason, '');
}

function shownVersion({ version, digest, atMs }: InstalledVersion): Fields {
  return { version, digest, at: timeOf(atMs) };
}

function shownPending({ version, digest, reason, message, untilMs }: Pending): Fields {
  return { version, digest, reason, message: cut(message), until: timeOf(untilMs) };
}

function timeOf(epochMs: number | undefined): string | undefined {
  return epochMs === undefined ? undefined : isoTime(epochMs).replace(/\.\d+Z$/u, 'Z');
}

function cut(message: string): string {
  return message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…`;
}
