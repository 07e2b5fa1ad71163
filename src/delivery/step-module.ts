/**
 * One step of one module: keeps its content in place, observes the gates of a new version, goes back from a failed one,
 * or installs what was decided. The state is written before and after each switch, so that after a crash the link says
 * what happened. Nothing here removes a module but the removal of its ModuleInstall.
 */

import { errorFields, hasCode, messageOf, retryAfterOf } from '@addon-operator/base/errors';
import { decide, type Pending, pending, type UpdateDecision, type UpdateLimits } from './decide.ts';
import type { DeliveryEvent, DeliveryParts, SourceAccess } from './delivery-parts.ts';
import {
  failedInstalled,
  hasFailed,
  type InstalledVersion,
  type InstallState,
  type Intent,
  passed,
  switched,
} from './install-state.ts';
import type { SwitchOutcome, SwitchRequest } from './module-switch.ts';
import { pullContent, restoreContent } from './obtain-content.ts';
import type { Install } from './parse-spec.ts';
import { installOf, isWanted, type ModuleRecord, noteMissing } from './records.ts';

export interface StepContext {
  readonly parts: DeliveryParts;
  /** The source of a module, or why it cannot be used. */
  readonly accessOf: (record: ModuleRecord) => SourceAccess | string;
  readonly limitsFor: (record: ModuleRecord) => UpdateLimits;
  /** The links of the store, which many steps of one moment read once. */
  readonly links: () => Promise<ReadonlyMap<string, string>>;
}

/** How often content, links and decisions are looked at when nothing happens. */
const LOOK_MS = 60_000;
/** How often gates are observed. */
const OBSERVE_MS = 5_000;
/** From a refused switch or a failed step to the next try. */
const STEP_RETRY_MS = 60_000;

/**
 * Makes one step. Does not throw: what fails is in the record, and tried again.
 *
 * @returns milliseconds until the next step; undefined when the module was removed and the record is to be forgotten
 */
export async function stepModule(
  context: StepContext,
  record: ModuleRecord,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { log } = context.parts;
  try {
    record.problem = undefined;
    if (!isWanted(record)) {
      await removeModule(context, record, signal);
      return undefined;
    }
    const isOrphan = record.spec === undefined ? true : undefined;
    if (record.state.isOrphan !== isOrphan)
      await saveState(context, record, (state) => ({ ...state, isOrphan }), signal);
    if (!(await keepContent(context, record, signal))) return STEP_RETRY_MS;
    const install = installOf(record);
    if (install === undefined) return LOOK_MS;
    if (record.state.observedSinceMs !== undefined) return await observe(context, record, install, signal);
    if (install.onFailure.rollback && hasFailed(record.state) && previousOf(record.state) !== undefined)
      return await goBack(context, record, install, signal);
    return await update(context, record, install, signal);
  } catch (error) {
    signal.throwIfAborted();
    record.problem = messageOf(error);
    log.warn(
      { module: record.name, ...errorFields(error) },
      'delivery of a module failed, it is tried again',
    );
    return Math.max(STEP_RETRY_MS, retryAfterOf(error) ?? 0);
  } finally {
    if (record.state.observedSinceMs === undefined) record.isUpdating = false;
  }
}

async function removeModule(
  { parts }: StepContext,
  record: ModuleRecord,
  signal: AbortSignal,
): Promise<void> {
  const { name, state } = record;
  if (state.entry !== undefined) await parts.modules.remove(state.entry, signal);
  await parts.history.remove(name, signal);
  await parts.state.save(name, undefined, signal);
  const message = 'Its ModuleInstall was deleted: the module is removed by its deletion policy';
  parts.reports.event(name, { type: 'Normal', reason: 'ModuleRemoved', message });
}

/** Whether the content of the installed version is in the store, and its link leads there. */
async function keepContent(
  context: StepContext,
  record: ModuleRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { parts } = context;
  const { installed, entry } = record.state;
  if (installed === undefined || entry === undefined) return true;
  try {
    await restoreContent(parts, { ...installed, module: record.name }, context.accessOf(record), signal);
    record.missing = undefined;
  } catch (error) {
    signal.throwIfAborted();
    noteMissing(record, messageOf(error), parts.clock);
    return false;
  }
  const link = (await context.links()).get(entry);
  if (link !== installed.digest && record.state.intent === undefined)
    await parts.store.link(entry, installed.digest);
  return true;
}

/** Decides, and installs if that is the decision. */
async function update(
  context: StepContext,
  record: ModuleRecord,
  install: Install,
  signal: AbortSignal,
): Promise<number> {
  const { parts } = context;
  const decision = decide({
    install,
    state: record.state,
    candidate: record.candidate,
    approved: record.approved,
    operatorVersion: parts.operator.version,
    modules: parts.operator.modules(),
    limits: context.limitsFor(record),
    nowMs: parts.clock.wallMs(),
  });
  if (decision.type !== 'install') {
    record.refusal = undefined;
    settle(context, record, decision);
    if (decision.type === 'nothing') await moveLink(context, record, install, signal);
    return nextLookMs(decision, parts.clock.wallMs());
  }
  const { refusal } = record;
  const waitMs = refusal === undefined ? 0 : refusal.dueMs - parts.clock.steadyMs();
  if (refusal?.pending.digest === decision.digest && waitMs > 0) return waitMs;
  // Before the first wait: another module must not take the same place.
  record.isUpdating = record.state.installed !== undefined;
  const access = context.accessOf(record);
  if (typeof access === 'string') {
    settle(context, record, pending('SourceUnavailable', access, decision));
    return STEP_RETRY_MS;
  }
  const { version, digest, approval } = decision;
  try {
    await pullContent(parts, { module: record.name, version, digest }, access, signal);
  } catch (error) {
    signal.throwIfAborted();
    const reason = pullProblem(error);
    if (reason === undefined) throw error;
    refuse(context, record, pending(reason, messageOf(error), decision));
    return Math.max(STEP_RETRY_MS, retryAfterOf(error) ?? 0);
  }
  const outcome = await change(context, record, { version, digest, entry: install.entry, approval }, signal);
  if (outcome.type === 'refused') {
    refuse(context, record, pending(outcome.reason, outcome.message, decision));
    return STEP_RETRY_MS;
  }
  settle(context, record, { type: 'nothing' });
  await keepBackup(context, record, access, signal);
  return 0;
}

/** Why content is not there. What is wrong with the store is no matter of the version. */
function pullProblem(error: unknown): Pending['reason'] | undefined {
  return PULL_PROBLEMS.find(([code]) => hasCode(error, code))?.[1];
}

const PULL_PROBLEMS = [
  ['ARTIFACT_INVALID', 'ArtifactInvalid'],
  ['MODULE_UNAUTHORIZED', 'Unverified'],
  ['MODULE_UNVERIFIED', 'Unverified'],
  ['REGISTRY_NOT_FOUND', 'NotFound'],
  ['REGISTRY_REFUSED', 'SourceUnavailable'],
  ['REGISTRY_UNREACHABLE', 'SourceUnavailable'],
] as const;

/** Another order is another name of the link; the version stays. */
async function moveLink(
  context: StepContext,
  record: ModuleRecord,
  install: Install,
  signal: AbortSignal,
): Promise<void> {
  const { installed, entry } = record.state;
  if (installed === undefined || entry === install.entry) return;
  const { version, digest } = installed;
  const request = { module: record.name, entry: install.entry, digest, version };
  const outcome = await context.parts.modules.switch(request, signal);
  if (outcome.type === 'switched')
    await saveState(context, record, (state) => ({ ...state, entry: install.entry }), signal);
  else record.problem = outcome.message;
}

/** Switches to a version. The state says so before and after. */
async function change(
  context: StepContext,
  record: ModuleRecord,
  intent: Intent,
  signal: AbortSignal,
  section?: string,
): Promise<SwitchOutcome> {
  const { parts } = context;
  const { version, digest, entry } = intent;
  // What decides about downgrades is before: content of the history comes back only by approval, pin or rollback.
  const isReturn = parts.history.entries(record.name).some((one) => one.digest === digest);
  const request: SwitchRequest = { module: record.name, entry, digest, version, isReturn, section };
  await saveState(context, record, (state) => ({ ...state, intent }), signal);
  const outcome = await parts.modules.switch(request, signal);
  if (outcome.type === 'refused')
    await saveState(context, record, (state) => ({ ...state, intent: undefined }), signal);
  else await finishSwitch(context, record, intent, signal, outcome.keptCrds);
  return outcome;
}

/** Records a switch that was made, also one that a former process made right before its end. */
export async function finishSwitch(
  { parts }: Pick<StepContext, 'parts'>,
  record: ModuleRecord,
  intent: Intent,
  signal: AbortSignal,
  keptCrds: readonly string[] = [],
): Promise<void> {
  const atMs = parts.clock.wallMs();
  const { version, digest, isReturn } = intent;
  const failure = record.state.failed.findLast((one) => one.digest === record.state.installed?.digest);
  await saveState({ parts }, record, (state) => switched(state, intent, atMs), signal);
  await parts.history.begin(
    record.name,
    { version, digest, atMs },
    isReturn === true
      ? { outcome: 'rolled-back', reason: failure?.why ?? 'by hand' }
      : { outcome: failure === undefined ? 'replaced' : 'failed', ...(failure && { reason: failure.why }) },
    signal,
  );
  const [title, type, reason] =
    isReturn === true
      ? ([`Version ${version} runs again`, 'Warning', 'RolledBack'] as const)
      : ([`Version ${version} is installed`, 'Normal', 'VersionInstalled'] as const);
  parts.reports.event(record.name, { type, reason, message: [title, ...keptCrds].join('; ') });
}

/** Looks at the gates of the installed version. */
async function observe(
  context: StepContext,
  record: ModuleRecord,
  install: Install,
  signal: AbortSignal,
): Promise<number> {
  const { parts } = context;
  const sinceMs = record.state.observedSinceMs ?? 0;
  const isLate = parts.clock.wallMs() >= sinceMs + install.onFailure.afterMs;
  let isHeld = false;
  record.waitsFor = undefined;
  for (const gate of install.gates) {
    const result = await parts.operator.gate(gate, record.name, sinceMs, signal);
    if (result.type === 'failed') return await fail(context, record, result.reason, signal);
    if (result.type === 'passed') continue;
    record.waitsFor ??= result.reason;
    isHeld ||= result.type === 'hold';
  }
  // Of a disabled module nothing runs that could be observed: its versions must not hold updates.
  const isDisabled = !parts.operator.modules().has(record.name);
  if (record.waitsFor === undefined || (isLate && isDisabled)) {
    record.waitsFor = undefined;
    await saveState(context, record, passed, signal);
    await parts.history.keepSection(record.name, parts.operator.section(record.name), signal);
    return 0;
  }
  // What cannot be measured is neither good nor bad, however long.
  if (isLate && !isHeld) {
    const why = `gates did not pass within ${Math.round(install.onFailure.afterMs / 1_000)} s: ${record.waitsFor}`;
    return await fail(context, record, why, signal);
  }
  return OBSERVE_MS;
}

async function fail(
  context: StepContext,
  record: ModuleRecord,
  why: string,
  signal: AbortSignal,
): Promise<number> {
  const { parts } = context;
  record.waitsFor = undefined;
  const atMs = parts.clock.wallMs();
  await saveState(context, record, (state) => failedInstalled(state, why, atMs), signal);
  const message = `Version ${record.state.installed?.version} has failed: ${why}`;
  parts.reports.event(record.name, { type: 'Warning', reason: 'UpdateFailed', message });
  return 0;
}

/** The version that a failed one is replaced by. */
function previousOf({ installed, lastGood, failed }: InstallState): InstalledVersion | undefined {
  const isOther = lastGood !== undefined && lastGood.digest !== installed?.digest;
  return isOther && !failed.some(({ digest }) => digest === lastGood.digest) ? lastGood : undefined;
}

/** The version before, once for each digest: it is among the failed ones then. */
async function goBack(
  context: StepContext,
  record: ModuleRecord,
  install: Install,
  signal: AbortSignal,
): Promise<number> {
  const to = previousOf(record.state);
  if (to === undefined) return LOOK_MS;
  const outcome = await returnTo(context, record, { to, entry: install.entry }, signal);
  if (outcome.type === 'switched') return 0;
  const reason = `no way back to ${to.version}: ${outcome.message}`;
  refuse(context, record, pending(outcome.reason, reason, to));
  return STEP_RETRY_MS;
}

/** A version that ran before, for a rollback by itself or by hand. */
export async function returnTo(
  context: StepContext,
  record: ModuleRecord,
  {
    to,
    entry,
    section,
  }: {
    readonly to: Omit<InstalledVersion, 'atMs'>;
    readonly entry: string;
    readonly section?: string | undefined;
  },
  signal: AbortSignal,
): Promise<SwitchOutcome> {
  const { version, digest } = to;
  const content = { module: record.name, version, digest };
  await restoreContent(context.parts, content, context.accessOf(record), signal);
  return await change(context, record, { version, digest, entry, isReturn: true }, signal, section);
}

async function keepBackup(
  { parts }: StepContext,
  record: ModuleRecord,
  access: SourceAccess,
  signal: AbortSignal,
): Promise<void> {
  const { installed } = record.state;
  if (installed === undefined) return;
  try {
    await parts.backup.save(access.repository(record.name), installed.digest, signal);
  } catch (error) {
    signal.throwIfAborted();
    parts.log.warn({ module: record.name, ...errorFields(error) }, 'files of a module have no backup');
  }
}

/** Changes the state and writes it. What could not be written is written with the next change. */
export async function saveState(
  { parts }: Pick<StepContext, 'parts'>,
  record: ModuleRecord,
  change: (state: InstallState) => InstallState,
  signal: AbortSignal,
): Promise<void> {
  record.state = change(record.state);
  parts.reports.changed();
  await parts.state.save(record.name, record.state, signal);
}

function refuse(context: StepContext, record: ModuleRecord, refusal: Pending): void {
  record.refusal = { pending: refusal, dueMs: context.parts.clock.steadyMs() + STEP_RETRY_MS };
  settle(context, record, refusal);
}

/** Takes over a decision, with an Event when the reason is another one. */
function settle({ parts }: StepContext, record: ModuleRecord, decision: UpdateDecision): void {
  const before = record.decision;
  record.decision = decision;
  if (decision.type !== 'pending') return;
  const { version, digest, reason, message } = decision;
  if (before.type === 'pending' && before.reason === reason && before.digest === digest) return;
  record.pendingSinceMs = parts.clock.wallMs();
  const event: DeliveryEvent = {
    type: 'Normal',
    reason: 'UpdatePending',
    message: `${version ?? 'The wanted version'} waits: ${reason}: ${message}`,
  };
  parts.reports.event(record.name, event);
}

function nextLookMs(decision: UpdateDecision, nowMs: number): number {
  const untilMs = decision.type === 'pending' ? decision.untilMs : undefined;
  return untilMs === undefined ? LOOK_MS : Math.min(LOOK_MS, Math.max(1_000, untilMs - nowMs));
}
