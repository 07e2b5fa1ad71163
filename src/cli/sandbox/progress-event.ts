import { errorText } from '@addon-operator/base/error-text';
import type { LogFields } from '@addon-operator/base/log';
import { stringOf } from '@addon-operator/json';
import type { LogRecord } from '@addon-operator/logging/observe-log';
import type { FailedTask } from '../../queues/failed-task.ts';

/** The module a hook belongs to (empty for global hooks), the hook, and why it runs. */
export interface HookRunRef {
  readonly module: string;
  readonly hook: string;
  readonly binding: string;
}

/** One event of the daemon's work that is shown in a terminal. */
export type ProgressEvent =
  | { readonly type: 'phase'; readonly text: string }
  | { readonly type: 'page-served'; readonly address: string }
  | { readonly type: 'helm-found'; readonly version: string }
  | { readonly type: 'jq-chosen'; readonly engine: string }
  | { readonly type: 'modules-enabled'; readonly modules: readonly string[] }
  | { readonly type: 'module-disabled'; readonly module: string; readonly reason: string }
  | { readonly type: 'hook-started'; readonly run: HookRunRef }
  | { readonly type: 'hook-printed'; readonly run: HookRunRef; readonly line: string }
  | {
      readonly type: 'hook-finished';
      readonly run: HookRunRef;
      readonly durationMs: number;
    }
  | { readonly type: 'helm-running'; readonly module: string; readonly operation: string }
  | { readonly type: 'helm-done'; readonly module: string; readonly revision: number }
  | { readonly type: 'module-ready'; readonly module: string }
  | { readonly type: 'module-deleted'; readonly module: string }
  | { readonly type: 'files-changed'; readonly path: string }
  | { readonly type: 'files-used'; readonly files: readonly string[]; readonly effect: string }
  | { readonly type: 'converged' }
  | { readonly type: 'task-failed'; readonly failed: FailedTask }
  | { readonly type: 'notice'; readonly isError: boolean; readonly text: string };

/** The event of a log record; undefined for records that are not shown, which are most. */
export function progressOf(record: LogRecord): ProgressEvent | undefined {
  const { fields, message, level } = record;
  if ('output' in fields)
    return { type: 'hook-printed', run: runOf(fields), line: printedText(message, fields) };
  const known = KNOWN[message]?.(fields);
  if (known !== undefined) return known;
  if (level !== 'warn' && level !== 'error' && level !== 'fatal') return undefined;
  // A failed attempt is shown once, together with the time of the next one.
  if (/requeue (it|task) to retry/i.test(message)) return undefined;
  return { type: 'notice', isError: level !== 'warn', text: noticeText(message, fields) };
}

const KNOWN: Readonly<Record<string, (fields: LogFields) => ProgressEvent>> = {
  'fetching the pinned helm': (fields) => ({ type: 'phase', text: text(fields, 'progress') }),
  helm: (fields) => ({ type: 'helm-found', version: text(fields, 'version') }),
  'jq engine': (fields) => ({ type: 'jq-chosen', engine: text(fields, 'engine') }),
  'Enabled modules': ({ modules }) => ({
    type: 'modules-enabled',
    modules: stringsOf(modules),
  }),
  'Module is disabled': (fields) => ({
    type: 'module-disabled',
    module: text(fields, 'module'),
    reason: text(fields, 'reason'),
  }),
  'hook started': (fields) => ({ type: 'hook-started', run: runOf(fields) }),
  'hook finished': (fields) => ({
    type: 'hook-finished',
    run: runOf(fields),
    durationMs: Number(fields['durationMs']),
  }),
  'Running helm upgrade for release': (fields) => ({
    type: 'helm-running',
    module: text(fields, 'release'),
    operation: text(fields, 'operation'),
  }),
  'Helm upgrade successful': (fields) => ({
    type: 'helm-done',
    module: text(fields, 'release'),
    revision: Number(fields['revision']),
  }),
  'ModuleRun success, module is ready': (fields) => ({
    type: 'module-ready',
    module: text(fields, 'module'),
  }),
  'ModuleDelete success, module is deleted': (fields) => ({
    type: 'module-deleted',
    module: text(fields, 'module'),
  }),
  'files changed, loading hooks and modules again': (fields) => ({
    type: 'files-changed',
    path: text(fields, 'path'),
  }),
  'the files are loaded now, the start continues': () => ({
    type: 'phase',
    text: 'the files are loaded now',
  }),
  'saved files are used': (fields) => ({
    type: 'files-used',
    files: stringsOf(fields['files']),
    effect: text(fields, 'effect'),
  }),
  'first converge is finished. Operator is ready now.': () => ({ type: 'converged' }),
};

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** A line that a hook printed as JSON keeps its fields. */
function printedText(message: string, fields: LogFields): string {
  const own = Object.entries(fields).filter(([name]) => name.startsWith(HOOK_FIELD));
  const details = own.map(([name, value]) => `${name.slice(HOOK_FIELD.length)}: ${plainText(value)}`);
  return withDetails(message, details);
}

function withDetails(message: string, details: readonly string[]): string {
  return details.length === 0 ? message : `${message} (${details.join(', ')})`;
}

function runOf(fields: LogFields): HookRunRef {
  // Hooks of deploys are shown with the module that is deployed.
  const isGlobal = text(fields, 'hook.type') === 'global';
  return {
    module: isGlobal ? '' : text(fields, 'module'),
    hook: text(fields, 'hook'),
    binding: text(fields, 'binding'),
  };
}

function text(fields: LogFields, name: string): string {
  const value = fields[name];
  return stringOf(value);
}

/** What the log puts before the fields of records that hooks print. */
const HOOK_FIELD = 'hook_';

const SHOWN_FIELDS = [
  'module',
  'hook',
  'path',
  'registered',
  'error',
  'reason',
  'fix',
  'keys',
  'unloaded',
  'ignored',
  'modulesDirs',
  'globalHooksDir',
];

function noticeText(message: string, fields: LogFields): string {
  const details = SHOWN_FIELDS.flatMap((name) => {
    const value = fields[name];
    if (value === undefined || value === '') return [];
    return [`${name}: ${plainText(value)}`];
  });
  return withDetails(message, details);
}

function plainText(value: unknown): string {
  if (value instanceof Error) return errorText(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
