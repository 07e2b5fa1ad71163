/** The view of delivery: made of the records, read by statuses, the page, commands and metrics. */

import type { Pending } from './decide.ts';
import type { DeliveryFacts } from './delivery-parts.ts';
import type { HistoryEntry } from './history.ts';
import type { HistoryStore } from './history-store.ts';
import type { FailedVersion, InstalledVersion } from './install-state.ts';
import { installOf, type ModuleRecord, type SourceRecord } from './records.ts';

/** A ModuleSource. */
export interface SourceView {
  readonly name: string;
  readonly generation: number | undefined;
  readonly url: string | undefined;
  /** The mistakes in its spec. */
  readonly invalid: string | undefined;
  /** Why it could not be read the last time. */
  readonly problem: string | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastAttemptMs: number | undefined;
  readonly modules: number;
}

/** A ModuleInstall, or a module whose ModuleInstall is gone and that is still there. */
export interface InstallView {
  readonly name: string;
  readonly generation: number | undefined;
  readonly source: string | undefined;
  readonly invalid: string | undefined;
  readonly installed: InstalledVersion | undefined;
  readonly lastGood: InstalledVersion | undefined;
  readonly wanted: { readonly version: string | undefined; readonly digest: string | undefined } | undefined;
  readonly pending: Pending | undefined;
  readonly failed: readonly FailedVersion[];
  readonly hasFailed: boolean;
  readonly history: readonly HistoryEntry[];
  readonly isUpdating: boolean;
  /** Why the gates of the installed version have not passed yet. */
  readonly waitsFor: string | undefined;
  /** Why the files of the installed version are nowhere. */
  readonly missing: string | undefined;
  /** Why the last step failed. */
  readonly problem: string | undefined;
  /** Why the source cannot be used. */
  readonly sourceProblem: string | undefined;
  /** Why the module itself is not ready. */
  readonly notReady: string | undefined;
  /** Which flag or script disables the module. */
  readonly disabled: string | undefined;
  readonly isOrphan: boolean;
}

export interface DeliveryView {
  readonly sources: readonly SourceView[];
  readonly installs: readonly InstallView[];
}

export function sourceView(record: SourceRecord, modules: number): SourceView {
  const { name, spec, problem, lastSuccessMs, lastAttemptMs } = record;
  const isValid = spec.type === 'valid';
  return {
    name,
    generation: isValid ? spec.value.generation : spec.generation,
    url: isValid ? spec.value.url : undefined,
    invalid: isValid ? undefined : spec.problems.join('; '),
    problem,
    lastSuccessMs,
    lastAttemptMs,
    modules,
  };
}

export interface InstallContext {
  readonly history: Pick<HistoryStore, 'entries'>;
  readonly operator: Pick<DeliveryFacts, 'whyNotReady' | 'whyDisabled'>;
  readonly sourceProblem: (record: ModuleRecord) => string | undefined;
}

export function installView(record: ModuleRecord, context: InstallContext): InstallView {
  const { name, spec, state, candidate, decision } = record;
  const { installed } = state;
  return {
    name,
    generation: spec?.type === 'valid' ? spec.value.generation : spec?.generation,
    source: installOf(record)?.source,
    invalid: spec?.type === 'invalid' ? spec.problems.join('; ') : undefined,
    installed,
    lastGood: state.lastGood,
    wanted: candidate && {
      version: candidate.type === 'version' ? candidate.facts.version : candidate.version,
      digest: candidate.digest,
    },
    pending: decision.type === 'pending' ? decision : undefined,
    failed: state.failed,
    hasFailed: state.failed.some(({ digest }) => digest === installed?.digest),
    history: context.history.entries(name),
    isUpdating: record.isUpdating || state.observedSinceMs !== undefined,
    waitsFor: record.waitsFor,
    missing: record.missing?.reason,
    problem: record.problem,
    sourceProblem: context.sourceProblem(record),
    notReady: installed === undefined ? undefined : context.operator.whyNotReady(name),
    disabled: installed === undefined ? undefined : context.operator.whyDisabled(name),
    isOrphan: state.isOrphan === true,
  };
}
