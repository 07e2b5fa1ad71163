/** The records of the controller about each source and each module. Written by the controller alone. */

import type { WallClock } from '@addon-operator/base/clock';
import type { OfferedVersion, Pending, UpdateDecision } from './decide.ts';
import type { SourceAccess } from './delivery-parts.ts';
import { type InstallState, NEW_INSTALL } from './install-state.ts';
import type { Install, Parsed, Source } from './parse-spec.ts';

export interface SourceRecord {
  readonly name: string;
  spec: Parsed<Source>;
  access?: SourceAccess | undefined;
  /** Why it could not be read the last time. */
  problem?: string | undefined;
  lastAttemptMs?: number | undefined;
  lastSuccessMs?: number | undefined;
  /** On the steady clock. */
  dueMs: number;
  isBusy: boolean;
}

export interface MissingContent {
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

export interface ModuleRecord {
  readonly name: string;
  /** Undefined when there is no ModuleInstall any more. */
  spec?: Parsed<Install> | undefined;
  state: InstallState;
  candidate?: OfferedVersion | Pending | undefined;
  approved?: OfferedVersion | Pending | undefined;
  /** A switch that was refused, which is tried again later. */
  refusal?: { readonly pending: Pending; readonly dueMs: number } | undefined;
  /** Why the content of the installed version is neither in the store nor elsewhere, and since when. */
  missing?: MissingContent | undefined;
  decision: UpdateDecision;
  /** Since when it is pending with this version and reason, in milliseconds since the epoch. */
  pendingSinceMs: number;
  /** An update is in progress, from the decision to its last gate. */
  isUpdating: boolean;
  /** Why the gates have not passed yet. */
  waitsFor?: string | undefined;
  /** Why the last step failed. */
  problem?: string | undefined;
  /** Its ModuleInstall went together with its definition. */
  isOrphan: boolean;
  /** When its version was looked up last, on the steady clock. */
  checkedMs: number;
  /** On the steady clock. */
  dueMs: number;
  isBusy: boolean;
}

export function newSourceRecord(spec: Parsed<Source>): SourceRecord {
  return {
    name: nameOfSpec(spec),
    spec,
    dueMs: 0,
    isBusy: false,
  };
}

export function newModuleRecord(name: string, state: InstallState = NEW_INSTALL): ModuleRecord {
  return {
    name,
    state,
    decision: { type: 'nothing' },
    pendingSinceMs: 0,
    isUpdating: false,
    isOrphan: false,
    checkedMs: 0,
    dueMs: 0,
    isBusy: false,
  };
}

export function nameOfSpec(spec: Parsed<{ readonly name: string }>): string {
  return spec.type === 'valid' ? spec.value.name : spec.name;
}

/** The install, if its spec is valid. */
export function installOf({ spec }: ModuleRecord): Install | undefined {
  return spec?.type === 'valid' ? spec.value : undefined;
}

/** Whether an install or its state wants the module. An install that is absent with its definition is no decision. */
export function isWanted({ spec, isOrphan, state }: ModuleRecord): boolean {
  return spec !== undefined || isOrphan || state.isOrphan === true;
}

/** Notes why content is missing; the time is that of the first note. */
export function noteMissing(record: ModuleRecord, reason: string, clock: WallClock): void {
  record.missing = { reason, sinceMs: record.missing?.sinceMs ?? clock.wallMs() };
}

/** The subject of a lookup: the result of a lookup about something else is of no use. */
export function lookupKey(install: Install | undefined): string {
  return JSON.stringify([install?.source, install?.wanted, install?.approval?.id]);
}
