import { escapeControls, readableLine } from '@addon-operator/strings/escape-controls';
import { headlineOf } from '@addon-operator/strings/headline';
import { errorOfTask } from '../../status/error-of-task.ts';
import type { ProgressEvent } from './progress-event.ts';
import { failedTitle, hookKey, type Progress } from './progress-state.ts';

const MAX_ERROR_CHARACTERS = 2_000;

/** One line about an event. A `lasting` one is looked for later. */
export interface ProgressLine {
  readonly kind: 'good' | 'plain' | 'lasting' | 'warning' | 'failure';
  readonly text: string;
}

/**
 * What is said about an event in one line, free of control characters; undefined for the steps in between.
 *
 * @param progress the state before the event
 */
export function progressLineOf(event: ProgressEvent, progress: Progress): ProgressLine | undefined {
  const line = rawLine(event, progress);
  return line && { ...line, text: readableLine(escapeControls(inOneLine(line.text))) };
}

function rawLine(event: ProgressEvent, progress: Progress): ProgressLine | undefined {
  switch (event.type) {
    case 'phase':
      return plain(event.text);
    case 'page-served':
      return { kind: 'lasting', text: `page at ${event.address}` };
    case 'helm-found':
      return plain(`helm ${event.version}`);
    case 'modules-enabled':
      return plain(`enabled modules: ${event.modules.join(', ') || 'none'}`);
    case 'module-disabled':
      return plain(`module ${event.module} is disabled${event.reason === '' ? '' : `: ${event.reason}`}`);
    case 'hook-finished': {
      const { run, durationMs } = event;
      const printed = progress.printed.get(hookKey(run));
      const said = printed === undefined ? '' : `: ${printed.join('\n')}`;
      return plain(`hook ${hookKey(run)} ran (${run.binding}, ${Math.round(durationMs)} ms)${said}`);
    }
    case 'helm-running':
      return plain(`module ${event.module}: helm ${event.operation}`);
    case 'helm-done':
      return { kind: 'good', text: `module ${event.module} is deployed, revision ${event.revision}` };
    case 'module-ready':
      return { kind: 'good', text: `module ${event.module} is ready` };
    case 'module-deleted':
      return plain(`module ${event.module} is deleted`);
    case 'files-changed':
      return plain(`changed: ${event.path}`);
    case 'files-used':
      return { kind: 'lasting', text: `saved ${shortList(event.files)}: ${event.effect}` };
    case 'task-failed': {
      const { module, hook, error, facts, failures, delayMs } = event.failed;
      const what = failedTitle(event.failed);
      const exit = facts['exitCode'] === undefined ? '' : `exit code ${facts['exitCode']}, `;
      const retry = `${exit}attempt ${failures}, next in ${Math.ceil(delayMs / 1_000)} s`;
      if (failures > 1 && progress.errors.get(what) === error)
        return { kind: 'failure', text: `${what} failed again with the same error (${retry})` };
      const printed = progress.printed.get(hookKey({ module, hook })) ?? [];
      const headline = headlineOf(error);
      const unsaid = printed.filter((line) => !headline.includes(line.trim()));
      const said = unsaid.length === 0 ? '' : `\nit printed: ${unsaid.join('\n')}`;
      return {
        kind: 'failure',
        text: `${what} failed (${retry}): ${endOf(errorOfTask(what, headline.trim()))}${said}`,
      };
    }
    case 'notice':
      return { kind: event.isError ? 'failure' : 'warning', text: event.text };
    case 'jq-chosen':
    case 'hook-started':
    case 'hook-printed':
    case 'converged':
      return undefined;
  }
}

function plain(text: string): ProgressLine {
  return { kind: 'plain', text };
}

/** Several lines of an error, one behind the other, as people read them. */
function inOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' | ');
}

const MAX_FILES = 3;

function shortList(files: readonly string[]): string {
  const more = files.length - MAX_FILES;
  return more > 0 ? `${files.slice(0, MAX_FILES).join(', ')} and ${more} more` : files.join(', ');
}

/** Programs print the reason for their failure last. */
function endOf(text: string): string {
  return text.length > MAX_ERROR_CHARACTERS ? `…${text.slice(-MAX_ERROR_CHARACTERS)}` : text;
}
