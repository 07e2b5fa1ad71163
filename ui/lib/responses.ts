// The types of API responses, derived from the types of the operator itself: the compiler finds a field that the page reads
// and the operator no longer sends. `src/server/api/schemas.ts` specifies the same responses for other clients.

import type { RunDetails, RunList, RunView } from '../../src/journal/run-view.ts';
import type { OperatorIdentity, ProcessUsage } from '../../src/server/api/api-route.ts';
import type { AuditEntry } from '../../src/server/api/audit-list.ts';
import type { ClientIdentity } from '../../src/server/api/requester.ts';
import type { SearchResult } from '../../src/server/api/search.ts';
import type { Timeline } from '../../src/server/api/timeline.ts';
import type { DocsSection } from '../../src/server/search-docs.ts';
import type { RuntimeParameterView } from '../../src/settings/runtime-parameters.ts';
import type {
  HookPatchView,
  HookSnapshots,
  HookView,
  LayeredValue,
  RevisionView,
  VersionView,
  WatchView,
} from '../../src/status/module-details.ts';
import type { ModuleDrift, ModuleExplanation, ModuleStatus } from '../../src/status/module-explanation.ts';
import type { ModuleRow } from '../../src/status/module-row.ts';
import type { NextItem } from '../../src/status/next-item.ts';
import type { OperatorStatus } from '../../src/status/operator-status.ts';
import type { Problem } from '../../src/status/problem.ts';
import type { ReleaseObjects } from '../../src/status/release-objects.ts';
import type { Standby } from '../../src/status/standby.ts';
import type { TaskQueueView, TaskView } from '../../src/status/task-queues.ts';

export type { WhyNode } from '../../src/status/cause.ts';
export type {
  HookSnapshots,
  HookView,
  LayeredValue,
  ModuleExplanation,
  ModuleStatus,
  NextItem,
  Problem,
  RevisionView,
  RunDetails,
  RunList,
  RunView,
  SearchResult,
  TaskView,
  Timeline,
};

/** A queue in the stream, with its first tasks. */
export type QueueResponse = TaskQueueView & { readonly more: number };

/** A module in the stream: fields without a value are absent. */
export type ModuleResponse = ModuleRow;

/** The state in one sentence. */
export interface HeadlineResponse extends Pick<OperatorStatus, 'level' | 'text' | 'problems' | 'details'> {
  /** RFC 3339 in UTC: the seconds in the sentences count from here. */
  readonly at: string;
  /** Problems that are left out. */
  readonly more: number;
}

/** A replica that waits until it leads. */
export type StandbyResponse = Standby;

/** The body of every response with a status from 400 on. */
export interface ErrorResponse {
  readonly error: { readonly code: string; readonly message: string };
  /** With the code `STANDBY`. */
  readonly standby?: StandbyResponse;
}

/** `modules/{name}/values`: the module's own section, then `global`. */
export interface ValuesResponse {
  readonly sections: readonly { readonly name: string; readonly values: readonly LayeredValue[] }[];
}

/** `modules/{name}/patches` */
export interface PatchesResponse {
  readonly sections: readonly { readonly name: string; readonly patches: readonly HookPatchView[] }[];
}

/** `modules/{name}/snapshots` */
export interface SnapshotsResponse {
  readonly hooks: readonly HookSnapshots[];
}

/** `modules/{name}/hooks` */
export interface HooksResponse {
  readonly hooks: readonly HookView[];
}

/** `modules/{name}/objects` */
export type ObjectsResponse = ReleaseObjects;
export type ObjectState = ReleaseObjects['objects'][number]['state'];

/** `modules/{name}/drift`: null without drift detection. */
export interface DriftResponse {
  readonly drift: ModuleDrift | null;
}

/** `modules/{name}/diff`: a unified diff, and notes about objects that could not be compared. */
export interface DiffResponse {
  readonly text: string;
  readonly notes: readonly string[];
  readonly tookMs: number;
}

/** `modules/{name}/history` */
export interface HistoryResponse {
  readonly revisions: readonly RevisionView[];
  readonly versions: readonly VersionView[];
  /** Null unless two revisions were named. */
  readonly diff: { readonly from: number; readonly to: number; readonly text: string } | null;
}

/** `about` */
export interface AboutResponse
  extends Pick<OperatorIdentity, 'version' | 'bootId' | 'replica' | 'namespace' | 'role'> {
  readonly at: string;
  readonly allowsActions: boolean;
  readonly process: ProcessUsage;
  readonly parameters: readonly (Pick<RuntimeParameterView, 'name' | 'description' | 'default' | 'value'> & {
    readonly expiresAt: string | null;
    readonly lastError: string;
  })[];
  readonly watches: readonly WatchView[];
}

/** `me` */
export interface MeResponse extends ClientIdentity {
  readonly actions: readonly { readonly action: string; readonly refusal: string | null }[];
}

/** `search?q=` */
export interface SearchResponse {
  readonly results: readonly SearchResult[];
}

/** `docs?page=` */
export interface DocsResponse {
  readonly page: string;
  readonly sections: readonly DocsSection[];
}

/** `audit` */
export interface AuditResponse {
  readonly entries: readonly AuditEntry[];
}

/** The response to an action that was accepted. */
export interface OperationResponse {
  readonly operation: { readonly message: string };
}

/** `graph`: an edge leads from the module that requires to the one that is required. */
export interface GraphResponse {
  readonly nodes: readonly { readonly name: string; readonly order: number; readonly status: ModuleStatus }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly range: string | null;
    readonly isOptional: boolean;
  }[];
}
