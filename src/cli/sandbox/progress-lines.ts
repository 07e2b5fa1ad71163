import { errorText } from '@addon-operator/base/error-text';
import type { LogFields } from '@addon-operator/base/log';
import { stringOf, stringsOf } from '@addon-operator/json';
import type { LogRecord } from '@addon-operator/logging/observe-log';
import { escapeControls, readableLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import type { FailedTask } from '../../queues/failed-task.ts';
import { errorOfTask } from '../../status/error-of-task.ts';

/** One line for a person who follows the daemon. */
export interface ProgressLine {
  readonly kind: 'good' | 'plain' | 'warning' | 'failure';
  readonly text: string;
}

/** So many are shown when a hook has ended. */
const MAX_PRINTED_LINES = 3;
const MAX_ERROR_CHARACTERS = 2_000;
const MAX_FILES = 3;

/**
 * Makes lines of the log records and failures of a daemon. Most records have none; what a hook prints is part of the line
 * about its run, and an error that a task repeats is not repeated in a line.
 */
export class ProgressLines {
  /** The last lines that each hook printed in its run. */
  readonly #printed = new Map<string, readonly string[]>();
  /** The last error of each task that failed. */
  readonly #errors = new Map<string, string>();
  #helmVersion = '';
  #jqEngine = '';

  /** Empty until the daemon has found helm. */
  get helmVersion(): string {
    return this.#helmVersion;
  }

  get jqEngine(): string {
    return this.#jqEngine;
  }

  /** The line about a log record; undefined for those that are not shown. */
  ofRecord({ level, message, fields }: LogRecord): ProgressLine | undefined {
    const text = (name: string): string => stringOf(fields[name]);
    const hook = hookKey(isGlobal(fields) ? '' : text('module'), text('hook'));
    if ('output' in fields) {
      const lines = [...(this.#printed.get(hook) ?? []), printedText(message, fields)];
      this.#printed.set(hook, lines.slice(-MAX_PRINTED_LINES));
      return undefined;
    }
    switch (message) {
      case 'fetching the pinned helm':
        return plain(text('progress'));
      case 'helm':
        this.#helmVersion = text('version');
        return plain(`helm ${this.#helmVersion}`);
      case 'jq engine':
        this.#jqEngine = text('engine');
        return undefined;
      case 'Enabled modules':
        return plain(`enabled modules: ${stringsOf(fields['modules']).join(', ') || 'none'}`);
      case 'Module is disabled':
        return plain(`module ${text('module')} is disabled${text('reason') && `: ${text('reason')}`}`);
      case 'hook started':
        this.#printed.delete(hook);
        return undefined;
      case 'hook finished': {
        const printed = this.#printed.get(hook);
        this.#printed.delete(hook);
        const duration = Math.round(Number(fields['durationMs']));
        const said = printed === undefined ? '' : `: ${printed.join('\n')}`;
        return plain(`hook ${hook} ran (${text('binding')}, ${duration} ms)${said}`);
      }
      case 'Running helm upgrade for release':
        return plain(`module ${text('release')}: helm ${text('operation')}`);
      case 'Helm upgrade successful':
        return good(`module ${text('release')} is deployed, revision ${Number(fields['revision'])}`);
      case 'ModuleRun success, module is ready':
        return good(`module ${text('module')} is ready`);
      case 'delivery of a module':
        return lineOf(level === 'warn' ? 'warning' : 'plain', `module ${text('module')}: ${text('detail')}`);
      case 'ModuleDelete success, module is deleted':
        return plain(`module ${text('module')} is deleted`);
      case 'files changed, loading hooks and modules again':
        return plain(`changed: ${text('path')}`);
      case 'the files are loaded now, the start continues':
        return plain('the files are loaded now');
      case 'saved files are used':
        return plain(`saved ${shortList(stringsOf(fields['files']))}: ${text('effect')}`);
      default:
        return noticeOf({ level, message, fields });
    }
  }

  ofFailure(failed: FailedTask): ProgressLine {
    const { module, hook, task, error, facts, failures, delayMs } = failed;
    const key = hookKey(module, hook);
    const title = hook === '' ? (module === '' ? task : `module ${module}`) : `hook ${key}`;
    const exit = facts['exitCode'] === undefined ? '' : `exit code ${facts['exitCode']}, `;
    const retry = `${exit}attempt ${failures}, next in ${Math.ceil(delayMs / 1_000)} s`;
    const isRepeated = failures > 1 && this.#errors.get(title) === error;
    this.#errors.set(title, error);
    if (isRepeated) return lineOf('failure', `${title} failed again with the same error (${retry})`);
    const headline = headlineOf(error);
    const printed = (this.#printed.get(key) ?? []).filter((line) => !headline.includes(line.trim()));
    const said = printed.length === 0 ? '' : `\nit printed: ${printed.join('\n')}`;
    const reason = errorOfTask(title, headline.trim()).replace(/^run hooks by binding \w+: (?=\S)/, '');
    return lineOf('failure', `${title} failed (${retry}): ${endOf(reason)}${said}`);
  }
}

/** One line free of control characters, also for several lines of an error. */
export function lineOf(kind: ProgressLine['kind'], text: string): ProgressLine {
  return { kind, text: readableLine(escapeControls(text.replaceAll(/\s*\n\s*/g, ' | '))) };
}

function plain(text: string): ProgressLine {
  return lineOf('plain', text);
}

function good(text: string): ProgressLine {
  return lineOf('good', text);
}

/** Hooks of deploys are shown with the module that is deployed. */
function isGlobal(fields: LogFields): boolean {
  return fields['hook.type'] === 'global';
}

/** The name of a hook among those of all modules. */
function hookKey(module: string, hook: string): string {
  return module === '' ? hook : `${module}/${hook}`;
}

/** The prefix of the log for the fields of records that hooks print. */
const HOOK_FIELD = 'hook_';

/** A line that a hook printed as JSON keeps its fields. */
function printedText(message: string, fields: LogFields): string {
  const own = Object.entries(fields).filter(([name]) => name.startsWith(HOOK_FIELD));
  return withDetails(
    message,
    own.map(([name, value]) => [name.slice(HOOK_FIELD.length), value]),
  );
}

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

/** Warnings and errors. A failed attempt has a line of its own, with the time of the next one. */
function noticeOf({ level, message, fields }: LogRecord): ProgressLine | undefined {
  if (level !== 'warn' && level !== 'error' && level !== 'fatal') return undefined;
  if (/requeue (it|task) to retry/i.test(message)) return undefined;
  const details = SHOWN_FIELDS.map((name) => [name, fields[name]] as const);
  const shown = details.filter(([, value]) => value !== undefined && value !== '');
  return lineOf(level === 'warn' ? 'warning' : 'failure', withDetails(message, shown));
}

function withDetails(message: string, details: readonly (readonly [string, unknown])[]): string {
  const shown = details.map(([name, value]) => `${name}: ${plainText(value)}`);
  return shown.length === 0 ? message : `${message} (${shown.join(', ')})`;
}

function plainText(value: unknown): string {
  if (value instanceof Error) return errorText(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join('; ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shortList(files: readonly string[]): string {
  const more = files.length - MAX_FILES;
  return more > 0 ? `${files.slice(0, MAX_FILES).join(', ')} and ${more} more` : files.join(', ');
}

/** Programs print the reason for their failure last. */
function endOf(text: string): string {
  return text.length > MAX_ERROR_CHARACTERS ? `…${text.slice(-MAX_ERROR_CHARACTERS)}` : text;
}
