/** A rollback on request. One by itself after a failure is in `step-module.ts`. */

import { OperatorError } from '@addon-operator/base/errors';
import type { InstalledVersion } from './install-state.ts';
import type { SwitchOutcome } from './module-switch.ts';
import { installOf, type ModuleRecord } from './records.ts';
import { returnTo, type StepContext, saveState } from './step-module.ts';

export interface VersionRollbackRequest {
  /** A version or a digest of the history. Default: the last good version, else the one before. */
  readonly to?: string | undefined;
  /** Whether the section of the ConfigMap goes back as well. */
  readonly withValues?: boolean;
  /** Only says what would be done. Default false. */
  readonly isDryRun?: boolean;
}

type HistoryTarget = Omit<InstalledVersion, 'atMs'>;

export type VersionRollback = (SwitchOutcome | { readonly type: 'planned' }) & { readonly version: string };

/** @throws OperatorError REQUEST_REFUSED with the reason, and errors of the registry and the store */
export async function rollBack(
  context: StepContext,
  record: ModuleRecord,
  { to, withValues = false, isDryRun = false }: VersionRollbackRequest,
  signal: AbortSignal,
): Promise<VersionRollback> {
  const { history, clock } = context.parts;
  const { name } = record;
  const entry = installOf(record)?.entry ?? record.state.entry;
  if (entry === undefined) throw new OperatorError('REQUEST_REFUSED', `${name} is not installed`);
  const target = targetOf(context, record, to);
  const section = withValues ? history.section(name, target.digest) : undefined;
  if (withValues && section === undefined)
    throw new OperatorError('REQUEST_REFUSED', `the values of ${name} ${target.version} were not kept`);
  if (isDryRun) return { type: 'planned', version: target.version };
  const left = record.state.installed;
  const outcome = await returnTo(context, record, { to: target, entry, section }, signal);
  if (outcome.type === 'switched' && left !== undefined) {
    const failure = { ...left, atMs: clock.wallMs(), why: 'rolled back by hand' };
    const isOther = ({ digest }: InstalledVersion) => digest !== target.digest && digest !== left.digest;
    await saveState(
      context,
      record,
      (state) => ({
        ...state,
        failed: [...state.failed.filter(isOther), failure],
        // What was left is nothing to return to by itself.
        lastGood: state.installed,
      }),
      signal,
    );
    record.dueMs = 0;
  }
  if (outcome.type === 'refused' && outcome.reason === 'SettingsInvalid' && section === undefined)
    return {
      ...outcome,
      version: target.version,
      message: `${outcome.message}${wayOut(context, name, target)}`,
    };
  return { ...outcome, version: target.version };
}

/** Advice about values that do not fit the older schema. */
function wayOut(
  { parts: { history } }: StepContext,
  name: string,
  { version, digest }: HistoryTarget,
): string {
  return history.section(name, digest) === undefined
    ? '; correct the ConfigMap first: its values were not kept'
    : `; with --with-values the values of ${version} are restored too`;
}

function targetOf(
  { parts: { history } }: StepContext,
  { name, state }: ModuleRecord,
  to: string | undefined,
): HistoryTarget {
  const isFailed = (digest: string) => state.failed.some((one) => one.digest === digest);
  const entries = history.entries(name).filter(({ digest }) => digest !== state.installed?.digest);
  const found =
    to === undefined
      ? (entries.find(({ digest }) => digest === state.lastGood?.digest) ??
        entries.find(({ digest, outcome }) => outcome === 'replaced' && !isFailed(digest)))
      : entries.find(({ version, digest }) => version === to || digest === to);
  if (found !== undefined) return found;
  const known = entries.map(({ version }) => version).join(', ') || 'none';
  throw new OperatorError(
    'REQUEST_REFUSED',
    to === undefined
      ? `${name} ran with no other version that was good: name one with --to; known are: ${known}`
      : `${to} is no version that ${name} ran with before; known are: ${known}`,
  );
}
