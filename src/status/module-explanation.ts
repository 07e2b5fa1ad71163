/**
 * The explanation of a module, as data and as text for people (`explain module`, `module list`). `views/explain-module.ts`
 * fills it. Conditions and causes are derived from it, so every fact about a module that users see is a field here.
 */

import type { ErrorCode } from '@addon-operator/base/errors';
import { oneLine, readableLine } from '@addon-operator/strings/escape-controls';
import { headlineOf, linesBelow } from '@addon-operator/strings/headline';
import type { ModuleAbout } from '../modules/foreign-manifest.ts';
import type { UnmetRequirement } from '../modules/requirements.ts';
import { type Cause, firstFalse, type WhyNode, whyRows } from './cause.ts';
import { changedLines, type ModuleChanged } from './module-changed.ts';
import { deliveryRows, type ModuleDelivery } from './module-delivery.ts';
import type { ModuleUpdate } from './module-update.ts';

/** The state of a module in one word. */
export type ModuleStatus =
  /** No discovery has decided about it yet. */
  | 'undecided'
  | 'disabled'
  /** The policy does not let it run; what it has in the cluster stays as it is. */
  | 'unauthorized'
  /** Its files are gone or cannot be used, or its enabled script fails: it is not run, and what it has in the cluster stays. */
  | 'held'
  /** Disabled, and on its way out. */
  | 'deleting'
  | 'paused'
  /** Enabled, and it was not run to its end yet, or its readiness probe says that it is not ready. */
  | 'starting'
  /** The last attempt failed. */
  | 'failing'
  /** It, or a module it requires, fails, and other modules continue without it. */
  | 'isolated'
  /** Its last run succeeded, and something keeps it from following changes. */
  | 'held-up'
  | 'ready';

/** Why a module is held. `text`: a sentence without its full stop. */
export interface HeldModule {
  readonly cause: 'DirectoryGone' | 'SourceUnavailable' | 'ModuleInvalid' | 'EnabledScriptFailed';
  readonly text: string;
  readonly remedy: string;
}

/** The state of a module as its object shows it, and everything else: `Succeeded` if and only if `Ready` is true. */
export type ModulePhase = 'Init' | 'Progressing' | 'Succeeded' | 'Failed' | 'Deleting';

/** A module it requires. */
export interface RequiredModule {
  readonly name: string;
  /** Range of versions; null: any. */
  readonly range: string | null;
  readonly isOptional: boolean;
  /** Null for a module that does not exist. */
  readonly status: ModuleStatus | null;
  /** Why it does not let the module be enabled; null where it does. */
  readonly unmet: UnmetRequirement | null;
}

/** Something that a module waits for: `text` is a sentence. */
export interface Wait {
  readonly type: /** Tasks of others in its queue. */
    | 'queue'
    /** A failure before the decision about all modules. */
    | 'converge'
    | 'config'
    | 'pause'
    | 'discovery'
    /** Its hooks, or other modules. */
    | 'other';
  readonly text: string;
}

/** Everything there is to say about one module. Times are RFC 3339 in UTC; null where there is nothing. */
export interface ModuleExplanation {
  readonly module: string;
  readonly status: ModuleStatus;
  /** Since when it has this status: for a failing module the end of the first failure in a row. */
  readonly since: string;
  readonly isEnabled: boolean;
  /** The source that decided it, such as `config-map`; null before the first discovery. */
  readonly source: string | null;
  readonly reason: string;
  /** Place in the run order, from 1, and how many there are. */
  readonly position: { readonly place: number; readonly of: number; readonly order: number };
  readonly path: string;
  readonly version: string | null;
  readonly deletionPolicy: string;
  readonly requires: readonly RequiredModule[];
  /** The range of versions of Kubernetes that it requires, and the version of the cluster; absent where it requires none. */
  readonly kubernetes?: { readonly range: string; readonly version: string | null };
  /** The description by its author; absent without one. */
  readonly about?: ModuleAbout;
  /** As its object shows it; null while it is disabled. */
  readonly phase: ModulePhase | null;
  /** How far its last run came, such as `helm`; `ready` at its end. */
  readonly step: string;
  /** Why it is held, and what a person does about it; absent where it is not. */
  readonly held?: HeldModule;
  /** Sentences; the nearest first. */
  readonly waitsFor: readonly string[];
  /** The same with what kind each is; absent without any. */
  readonly waits?: readonly Wait[];
  /** Why it is held up; the cause that has to be removed first comes first. */
  readonly causes: readonly Cause[];
  /** The conditions for the module to be ready; absent in lists of modules. */
  readonly why?: WhyNode;
  readonly failure: ModuleFailure | null;
  readonly lastRun: {
    readonly startedAt: string;
    readonly durationMs: number;
    readonly result: string;
  } | null;
  /** When it is reconciled again although nothing has changed; null if that was not requested. */
  readonly nextReconcileAt: string | null;
  readonly release: { readonly revision: number; readonly isOwned: boolean } | null;
  readonly pause: ModulePause | null;
  /** Null without drift detection for its release. */
  readonly drift: ModuleDrift | null;
  /** A version that does not run yet; absent without any. */
  readonly update?: ModuleUpdate;
  /** The versions from its source; absent for a module of a plain directory. */
  readonly delivery?: ModuleDelivery;
  /** What changed since its last good run; absent while it does not fail, and in lists of modules. */
  readonly changed?: ModuleChanged;
  /** Sentences about snapshots of its hooks, and of global ones, that are not up to date; absent without any. */
  readonly warnings?: readonly string[];
}

/** Changes by other clients to objects that helm applied. */
export interface ModuleDrift {
  /** `warn` or `heal`. */
  readonly mode: string;
  readonly objects: readonly {
    /** `<namespace>/<Kind>/<name>`. */
    readonly resource: string;
    /** JSON pointers. */
    readonly fields: readonly string[];
    /** Field managers, the last one first. */
    readonly changedBy: readonly string[];
    readonly since: string;
    /** The planned reaction of the operator, in words. */
    readonly outlook: string;
    /** When it is corrected, if that is put off; absent if it is not corrected or only waits for the end of a pause. */
    readonly correction?: { readonly at: string; readonly isRefused: boolean };
  }[];
  /** Objects for which it is unknown, and why; absent without any. */
  readonly uncompared?: readonly { readonly resource: string; readonly error: string }[];
}

/** The part of a module that failed. */
export type FailurePlace =
  /** `binding` is its kind, such as `beforeHelm`. */
  | { readonly type: 'hook'; readonly file: string; readonly binding: string }
  | { readonly type: 'requirements' };

export interface ModuleFailure {
  readonly error: string;
  /** Absent for what is neither: the part follows from the phase. */
  readonly place?: FailurePlace;
  /** One of the codes in docs/errors.md; absent for an error that has none. */
  readonly code?: ErrorCode;
  /** Failed attempts in a row. */
  readonly attempts: number;
  /** When it is tried next; null while it is tried or waits for others. */
  readonly nextAttemptAt: string | null;
  /** It is not retried until something about the module changes, or a user requests it. */
  readonly isGivenUp: boolean;
}

export interface ModulePause {
  readonly reason: string;
  readonly since: string;
  /** Null: until it is resumed. */
  readonly until: string | null;
  /** All modules are paused. */
  readonly isOfAll: boolean;
  /** The user whose `addon-operator dev` runs the module; absent where it is only paused. */
  readonly handedOverTo?: string;
  /** It is wanted back from there, where what runs of it ends first. */
  readonly isTakenBack?: boolean;
}

/** One line of the list of all modules: from the explanation, who decided and why a module is not ready. */
export interface ModuleSummary
  extends Pick<
    ModuleExplanation,
    'module' | 'status' | 'since' | 'isEnabled' | 'source' | 'reason' | 'waitsFor' | 'version' | 'update'
  > {
  /** Of its release, as this operator last deployed or read it; null before. */
  readonly revision: number | null;
  readonly lastError: string | null;
  /** Null while it is in progress, waits for others, or is stalled. */
  readonly nextTryAt: string | null;
  readonly paused: Omit<ModulePause, 'since' | 'isOfAll'> | null;
  /** The first thing in its way, also of a module that is ready, such as a hook that hangs or drift; absent without any. */
  readonly heldUpBy?: string;
  /** The object in the way, such as `queue/main`, also where other tasks are only in front of it; absent if it has no name. */
  readonly heldUpRef?: string;
  /** The command or edit that fixes it; absent if none does. */
  readonly remedy?: string;
}

/** Flags may enable a module that no policy authorizes: it counts as enabled, so that nothing of it is deleted. */
function enabledWord(status: ModuleStatus, isEnabled: boolean): string {
  if (status === 'unauthorized') return 'not run';
  if (status === 'undecided') return 'not known yet';
  return isEnabled ? 'yes' : 'no';
}

/** States of which the beginning explains nothing. */
const SETTLED: ReadonlySet<ModuleStatus> = new Set(['ready', 'disabled']);

/** The explanation for people. */
export function explanationText(explanation: ModuleExplanation): string {
  const { module, status, isEnabled, reason, source, position, phase, step } = explanation;
  const heldUp = heldUpRows(explanation);
  const rows: (readonly [string, string])[] = [
    ['module', module],
    ['status', status === 'held-up' ? 'held up' : status],
    ...(SETTLED.has(status) ? [] : [['since', explanation.since] as const]),
    ...heldUp,
    ['enabled', `${enabledWord(status, isEnabled)}: ${reason}${source === null ? '' : ` (${source})`}`],
    ['run order', `${position.place} of ${position.of} (number ${position.order})`],
    ['directory', explanation.path],
    ['version', explanation.version ?? 'unknown'],
    ...deliveryRows(explanation),
    ...aboutRows(explanation.about ?? {}),
    ...kubernetesRows(explanation),
    ...explanation.requires.map((required): readonly [string, string] => [
      'requires',
      requiredText(required),
    ]),
    ['on deletion', explanation.deletionPolicy],
    ...(phase === null ? [] : [['phase', phase] as const]),
    ...(step === 'not started' || step === 'ready' ? [] : [['run step', step] as const]),
    ...waitRows(explanation),
    ...failureRows(explanation.failure),
    ...changedRows(explanation.changed),
    ['last run', lastRunText(explanation.lastRun)],
    ...(explanation.nextReconcileAt === null ? [] : [['next run', explanation.nextReconcileAt] as const]),
    ['release', releaseText(explanation.release)],
    ...(explanation.pause === null ? [] : [['paused', pauseText(explanation.pause)] as const]),
    ...driftRows(explanation),
    ...(explanation.warnings ?? []).map((sentence): readonly [string, string] => ['warning', sentence]),
  ];
  return `${textTable(rows)}${treeText(explanation.why)}`;
}

function changedRows(changed: ModuleChanged | undefined): readonly (readonly [string, string])[] {
  if (changed === undefined) return [];
  if (changed.since === null) return [['last good run', 'none is known']];
  const lines = changedLines(changed);
  const known = lines.length === 0 ? ['nothing that is known'] : lines;
  return [
    ['last good run', `${changed.since} (run ${changed.run})`],
    ...known.map((line, index) => [index === 0 ? 'changed since' : '', line] as const),
  ];
}

function aboutRows({ description, stage, tags, namespace, isCritical, disableMessage }: ModuleAbout) {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['description', description],
    ['stage', stage],
    ['tags', tags?.join(', ')],
    ['namespace', namespace],
    ['critical', isCritical === true ? 'yes' : undefined],
    ['if disabled', disableMessage],
  ];
  return rows.flatMap(([title, sentence]) => (sentence === undefined ? [] : [[title, sentence] as const]));
}

function kubernetesRows({ kubernetes }: ModuleExplanation): readonly (readonly [string, string])[] {
  if (kubernetes === undefined) return [];
  const { range, version } = kubernetes;
  return [['requires', `Kubernetes ${range}${version === null ? '' : ` (the cluster has ${version})`}`]];
}

/** Nothing while everything is true. */
function treeText(why: WhyNode | undefined): string {
  if (why === undefined || why.ok === true) return '';
  return `\n${textTable([['TRUE', 'CONDITION', 'WHY'], ...whyRows(why)])}`;
}

interface Column {
  readonly title: string;
  readonly cell: (module: ModuleSummary) => string;
}

const COLUMNS: readonly Column[] = [
  { title: 'MODULE', cell: ({ module }) => module },
  { title: 'STATUS', cell: ({ status }) => status },
  { title: 'ENABLED', cell: ({ isEnabled }) => (isEnabled ? 'yes' : 'no') },
  { title: 'REASON', cell: ({ reason }) => reason },
];

/** Left out of the list where no module has anything to say. */
const TROUBLE_COLUMNS: readonly Column[] = [
  { title: 'WAITS FOR', cell: waitsText },
  { title: 'LAST ERROR', cell: ({ lastError }) => shortened(headlineOf(lastError ?? '')) },
  { title: 'NEXT TRY', cell: ({ nextTryAt }) => nextTryAt ?? '' },
  { title: 'PAUSED', cell: ({ paused }) => (paused === null ? '' : shortened(endAndReason(paused))) },
];

/** All modules in run order, for people; what fails and waits is cut where it is long. */
export function summaryText(modules: readonly ModuleSummary[]): string {
  const needed = TROUBLE_COLUMNS.filter(({ cell }) => modules.some((module) => cell(module) !== ''));
  const columns = [...COLUMNS, ...needed];
  return textTable([
    columns.map(({ title }) => title),
    ...modules.map((module) => columns.map(({ cell }) => cell(module))),
  ]);
}

function waitsText({ waitsFor: [nearest, ...others], lastError, heldUpBy = '' }: ModuleSummary): string {
  if (nearest === undefined) return lastError === null ? shortened(heldUpBy) : '';
  return `${shortened(nearest)}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}

/** Characters of a cell in the list of modules; the explanation shows the whole sentence. */
const CELL_LENGTH = 80;

function shortened(sentence: string): string {
  const line = oneLine(sentence);
  return line.length > CELL_LENGTH ? `${line.slice(0, CELL_LENGTH - 1)}…` : line;
}

/** Rows with aligned columns, for people: cells are one line each, keep their indentation and hold no control characters. */
export function textTable(sentences: readonly (readonly string[])[]): string {
  const rows = sentences.map((row) => row.map((cell) => readableLine(`${indentOf(cell)}${oneLine(cell)}`)));
  const widths = rows.reduce<readonly number[]>(
    (known, row) => row.map((cell, index) => Math.max(cell.length, known[index] ?? 0)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

function indentOf(cell: string): string {
  return /^[ \t]*/u.exec(cell)?.[0].replaceAll('\t', '  ') ?? '';
}

/** A required module with its status. */
export function requiredText({ name, range, isOptional, status }: RequiredModule): string {
  const version = range === null ? '' : ` ${range}`;
  return `${name}${version}${isOptional ? ', optional' : ''}: ${status ?? 'does not exist'}`;
}

const GIVEN_UP =
  'not retried until its values, its section of the ConfigMap or its files change, or a run is requested';

function failureRows(failure: ModuleFailure | null): readonly (readonly [string, string])[] {
  if (failure === null) return [];
  const next = failure.nextAttemptAt === null ? '' : `, next at ${failure.nextAttemptAt}`;
  const lines = linesBelow(failure.error)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return [
    ['last error', headlineOf(failure.error)],
    ...lines.map((line) => ['', line] as const),
    ['attempts', failure.isGivenUp ? GIVEN_UP : `${failure.attempts} failed${next}`],
    ...(failure.code === undefined ? [] : [['error code', failure.code] as const]),
  ];
}

/** Waits that the causes do not mention already: those for its hooks and for other modules. */
function waitRows({
  waitsFor,
  waits = [],
  causes,
}: ModuleExplanation): readonly (readonly [string, string])[] {
  const isMentioned = (sentence: string): boolean =>
    waits.some((wait) => wait.text === sentence && wait.type !== 'other');
  const others = causes.length === 0 ? waitsFor : waitsFor.filter((sentence) => !isMentioned(sentence));
  return others.map((sentence) => ['waits for', sentence]);
}

/** The first condition that is not true comes first. */
function heldUpRows({ causes, why }: ModuleExplanation): readonly (readonly [string, string])[] {
  const first = why === undefined ? undefined : firstFalse(why);
  const obstacles =
    first === undefined ? causes : [first, ...causes.filter(({ text }) => text !== first.text)];
  return obstacles.flatMap(({ text, remedy, until }) => [
    ['held up by', text.includes(`${until}`) ? text : `${text}${nextText(until)}`] as const,
    ...(remedy === null ? [] : [['to fix it', remedy] as const]),
  ]);
}

function nextText(at: string | null | undefined): string {
  return typeof at === 'string' ? `; next attempt at ${at}` : '';
}

function lastRunText(run: ModuleExplanation['lastRun']): string {
  return run === null ? 'none' : `${run.result}, ${run.startedAt}, took ${run.durationMs} ms`;
}

function releaseText(release: ModuleExplanation['release']): string {
  if (release === null) return 'none';
  return `revision ${release.revision}${release.isOwned ? '' : ', not created by this operator'}`;
}

function driftRows({ drift, release }: ModuleExplanation): readonly (readonly [string, string])[] {
  if (drift === null) return release === null ? [] : [['drift', 'not watched']];
  const { mode, objects, uncompared = [] } = drift;
  if (objects.length === 0 && uncompared.length === 0) return [['drift', `none (${mode})`]];
  return [
    ...objects.map(({ resource, fields, changedBy, since, outlook, correction }) => {
      const by = changedBy.length === 0 ? '' : ` by ${changedBy.join(', ')}`;
      return [
        'drift',
        `${resource} since ${since}: ${fields.join(', ')}${by}; ${outlook}${nextText(correction?.at)}`,
      ] as const;
    }),
    ...uncompared.map(
      ({ resource, error }) => ['drift', `${resource} cannot be compared: ${error}`] as const,
    ),
  ];
}

function pauseText(pause: ModulePause): string {
  if (pause.handedOverTo !== undefined) return `since ${pause.since}, ${pause.reason}`;
  return `${pause.isOfAll ? 'with all modules ' : ''}since ${pause.since}, ${endAndReason(pause)}`;
}

function endAndReason({ reason, until, handedOverTo }: Omit<ModulePause, 'since' | 'isOfAll'>): string {
  if (handedOverTo !== undefined) return reason;
  return `${until === null ? 'until it is resumed' : `until ${until}`}: ${reason}`;
}
