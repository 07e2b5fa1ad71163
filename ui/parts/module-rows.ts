/**
 * The rows of the list of modules: filtered, problems first, and modules that wait for the same thing as one row that opens.
 * It is pure.
 */

import type { ModuleResponse, ModuleStatus, NextItem } from '../lib/responses.ts';
import { MODULE_KINDS } from './sign.tsx';

export interface ListOptions {
  /** A status, `problems`, or empty for all. */
  readonly status: string;
  /** In lower case. */
  readonly text: string;
  /** `run`: the order in which they run; otherwise problems first. */
  readonly order: string;
  /** The groups that are open, by what their modules wait for. */
  readonly open: ReadonlySet<string>;
}

export type ListRow =
  | { readonly type: 'module'; readonly module: ModuleResponse; readonly isInGroup: boolean }
  /** Modules that wait for `cause`, of which `first` is the first one. */
  | {
      readonly type: 'group';
      readonly cause: string;
      readonly count: number;
      readonly first: ModuleResponse;
      readonly isOpen: boolean;
    };

/** Fewer rows are read as fast as one about them. */
const SMALLEST_GROUP = 3;
const RANKS = new Map(Object.keys(MODULE_KINDS).map((status, rank) => [status, rank]));
const WAITING: ReadonlySet<ModuleStatus> = new Set(['starting', 'undecided', 'held-up', 'deleting']);

/** The rows of the list. */
export function listRows(modules: readonly ModuleResponse[], options: ListOptions): readonly ListRow[] {
  const { status, text, order, open } = options;
  const shown = modules.filter((module) => hasStatus(module, status) && isMatch(module, text));
  const sorted = order === 'run' ? shown : shown.toSorted((a, b) => rankOf(a) - rankOf(b));
  const single = (module: ModuleResponse): ListRow => ({ type: 'module', module, isInGroup: false });
  // A reader who filters wants to see each of them.
  if (text !== '' || status !== '') return sorted.map(single);
  const groups = Map.groupBy(sorted, causeOf);
  return sorted.flatMap((module): readonly ListRow[] => {
    const cause = causeOf(module);
    const members = groups.get(cause) ?? [];
    if (cause === '' || members.length < SMALLEST_GROUP) return [single(module)];
    if (members[0] !== module) return [];
    const isOpen = open.has(cause);
    const head: ListRow = { type: 'group', cause, count: members.length, first: module, isOpen };
    return isOpen
      ? [head, ...members.map((member): ListRow => ({ type: 'module', module: member, isInGroup: true }))]
      : [head];
  });
}

/** Whether a module needs a person, or does not follow changes. */
export function isProblem({ status, source }: Pick<ModuleResponse, 'status' | 'source'>): boolean {
  // A module that flags enable and whose requirement is not met counts as disabled.
  if (status === 'disabled') return source === 'requirement';
  return status === 'held-up' || (RANKS.has(status) && MODULE_KINDS[status].tone === 'bad');
}

/** What a module waits for with others; empty for one that does not wait. */
function causeOf({ status, heldUpRef, heldUpBy }: ModuleResponse): string {
  return WAITING.has(status) ? (heldUpRef ?? heldUpBy ?? '') : '';
}

function rankOf(module: ModuleResponse): number {
  if (isProblem(module) && module.status === 'disabled') return RANKS.get('held-up') ?? 0;
  return RANKS.get(module.status) ?? 0;
}

function hasStatus(module: ModuleResponse, status: string): boolean {
  return status === '' || (status === 'problems' ? isProblem(module) : module.status === status);
}

/** The filter looks at the name and at the sentence that is shown. */
function isMatch(module: ModuleResponse, text: string): boolean {
  return text === '' || `${module.module}\n${reasonOf(module)}`.toLowerCase().includes(text);
}

/** Say again what the row is about, in front of why it failed. */
const PREFIXES = /^(?:Cannot deploy release "[^"]*": run helm \w+: |run hooks by binding \w+: )/;
const HOOK_PREFIX = /^module hook '([^']*)' failed: /;

/** The most important fact about a module, in one line. */
export function reasonOf(module: ModuleResponse): string {
  const { status, lastError, waitsFor, heldUpBy, reason, paused, update } = module;
  if (paused !== undefined) return paused.reason;
  const pending = update && `update to ${update.version ?? 'another version'}: ${update.reason}`;
  return (
    lastError?.replace(PREFIXES, '').replace(HOOK_PREFIX, '$1: ') ??
    heldUpBy ??
    waitsFor ??
    pending ??
    (status === 'ready' ? '' : reason)
  );
}

/** When each module is due next, by name: RFC 3339 in UTC. */
export function nextOfModules(items: readonly NextItem[]): ReadonlyMap<string, string> {
  const due = new Map<string, string>();
  for (const { module, at } of items) if (module !== '' && !due.has(module)) due.set(module, at);
  return due;
}
