/** The parts of delivery. The implementations are in other rooms, and put together in `app/start-delivery.ts`. */

import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { Repository } from '@addon-operator/oci/repository';
import type { ModuleArtifact, VerificationPolicy } from '../artifacts/module-artifact.ts';
import type { readArtifact } from '../artifacts/read-artifact.ts';
import type { resolveChannel } from '../artifacts/release-channel.ts';
import type { verifyArtifact } from '../artifacts/verify-artifact.ts';
import type { ContentStore } from '../module-store/content-store.ts';
import type { DeliverySettings } from '../settings/delivery-settings.ts';
import type { ContentBackup } from './content-backup.ts';
import type { Gate, GateResult } from './gates.ts';
import type { HistoryStore } from './history-store.ts';
import type { ModuleSwitch } from './module-switch.ts';
import type { Source } from './parse-spec.ts';
import type { StateStore } from './state-store.ts';

/** The repositories of one source, opened with its credentials. */
export interface SourceAccess {
  /** @param path below the URL: the name of a module */
  repository(path: string): Repository;
  readonly policy: VerificationPolicy;
}

/**
 * Reads what a source refers to, such as credentials and keys.
 *
 * @throws OperatorError SOURCE_INVALID, KUBE_API, KUBE_UNREACHABLE
 */
export type OpenSource = (source: Source, signal: AbortSignal) => Promise<SourceAccess>;

/** The functions of `artifacts/`. All of them throw OperatorError of the registry, ARTIFACT_INVALID or MODULE_UNVERIFIED. */
export interface ArtifactTools {
  readonly read: typeof readArtifact;
  readonly verify: typeof verifyArtifact;
  readonly resolveChannel: typeof resolveChannel;
  /** @param policy of which only what is inside of the content is checked here */
  unpack(
    content: {
      readonly repository: Repository;
      readonly artifact: ModuleArtifact;
      readonly directory: string;
      /** Its name, which is signed along with the files. */
      readonly module: string;
      readonly policy: VerificationPolicy;
    },
    signal: AbortSignal,
  ): Promise<void>;
}

/** The operator as delivery sees it. */
export interface DeliveryFacts {
  readonly version: string;
  /** Versions of enabled modules by name; undefined where a module has none. */
  modules(): ReadonlyMap<string, string | undefined>;
  /** Why a module is not ready; undefined when it is. */
  whyNotReady(module: string): string | undefined;
  /** Which flag or script disables a module; undefined for one that is enabled, or whose flags were not read yet. */
  whyDisabled(module: string): string | undefined;
  /** The section of the ConfigMap, as text; undefined if there is none. */
  section(module: string): string | undefined;
  /** Observes a gate after a switch. @param sinceMs when the version was put into operation, in milliseconds since the epoch */
  gate(gate: Gate, module: string, sinceMs: number, signal: AbortSignal): Promise<GateResult>;
}

/** Reasons of Events about delivery. */
export type DeliveryEventReason =
  | 'VersionInstalled'
  | 'UpdatePending'
  | 'UpdateFailed'
  | 'RolledBack'
  | 'ModuleRemoved';

/** Something that a user should notice. */
export interface DeliveryEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: DeliveryEventReason;
  readonly message: string;
}

/** The reports of delivery, besides the status. */
export interface DeliveryReports {
  event(module: string, event: DeliveryEvent): void;
  /** Content was pulled. */
  pulled(module: string, seconds: number): void;
  /** The status of sources and installs may be different. */
  changed(): void;
}

export interface DeliveryParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  readonly store: ContentStore;
  readonly modules: ModuleSwitch;
  readonly openSource: OpenSource;
  readonly artifacts: ArtifactTools;
  readonly state: StateStore;
  readonly history: Pick<HistoryStore, keyof HistoryStore>;
  readonly backup: ContentBackup;
  readonly operator: DeliveryFacts;
  readonly reports: DeliveryReports;
}

/** Limits of updates. */
export type UpdateSettings = Pick<DeliverySettings, 'updateParallel' | 'updateFailures'>;
