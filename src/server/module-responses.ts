/**
 * Debug requests about modules: list, explain, pause, resume, release of a finalizer. Each function validates its form,
 * calls the command that `requests/` provides, and turns the outcome into a response. A refusal is 4xx with one sentence
 * that says what to do.
 */

import { errorText } from '@addon-operator/base/error-text';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import {
  dataResponse,
  errorResponse,
  type Format,
  type RouteResponse,
  textResponse,
} from '@addon-operator/http-server/response';
import { parseGoDuration } from '@addon-operator/strings/go-duration';
import type { DaemonView } from '../status/daemon-view.ts';
import { explanationText, type ModuleSummary, summaryText } from '../status/module-explanation.ts';
import type { FinalizerRelease } from '../status/module-object.ts';
import { isNoted } from '../status/operator-facts.ts';

/** Pauses and resumes modules; without a name, all of them. */
export interface PauseCommands {
  /** @throws OperatorError when it cannot be saved in the cluster */
  pause(module: string | undefined, pause: PauseRequest, signal: AbortSignal): Promise<void>;
  /** Returns whether it was paused. */
  resume(module: string | undefined, signal: AbortSignal): Promise<boolean>;
  nowMs(): number;
}

/** Releases a module whose reconcile webhook cannot finalize it. @throws the errors of the API client */
export type ReleaseFinalizer = (module: string, signal: AbortSignal) => Promise<FinalizerRelease>;

export interface PauseRequest {
  readonly reason: string;
  /** Milliseconds since the epoch; undefined: until it is resumed. */
  readonly untilMs: number | undefined;
}

/** The response about a name that no module has. */
export function noModuleResponse(name: string): RouteResponse {
  return errorResponse(404, 'MODULE_UNKNOWN', `there is no module ${name}`);
}

/** Whether a module has a problem of its own: others only wait for a task in their queue. */
function hasOwnProblem(module: ModuleSummary): boolean {
  const { status, heldUpBy, heldUpRef = '' } = module;
  if (status === 'starting' && heldUpRef.startsWith('queue/')) return false;
  return isNoted(module) || heldUpBy !== undefined;
}

/** All modules with their states, or only those with a problem of their own. */
export function listResponse(view: DaemonView, format: Format, hasProblem = false): RouteResponse {
  const modules = view.modules().filter((module) => !hasProblem || hasOwnProblem(module));
  return format === 'text' ? textResponse(summaryText(modules)) : dataResponse(format, { modules });
}

/** Everything about one module. */
export async function explainResponse(
  view: DaemonView,
  name: string,
  format: Format,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const explanation = await view.explainModule(name, signal);
  if (explanation === undefined) return noModuleResponse(name);
  return format === 'text' ? textResponse(explanationText(explanation)) : dataResponse(format, explanation);
}

/**
 * Pauses a module, or all of them, as a form says it: `reason`, and `for` with a Go duration or `until` with a date.
 *
 * @throws OperatorError when it cannot be saved in the cluster
 */
export async function pauseResponse(
  commands: PauseCommands,
  module: string | undefined,
  form: URLSearchParams,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const reason = form.get('reason') ?? '';
  if (reason === '') return errorResponse(400, 'REQUEST_INVALID', "a pause needs a 'reason'");
  // Only this part throws for mistakes of the user; errors of the command itself become status 500.
  let untilMs: number | undefined;
  try {
    untilMs = endOf(form.get('for') ?? '', form.get('until') ?? '', commands.nowMs());
  } catch (error) {
    return errorResponse(400, 'REQUEST_INVALID', errorText(error));
  }
  await commands.pause(module, { reason, untilMs }, signal);
  const [it, are] = module === undefined ? ['they', 'are'] : ['it', 'is'];
  const end = untilMs === undefined ? `until ${it} ${are} resumed` : `until ${isoTime(untilMs)}`;
  return textResponse(`${titleOf(module)} paused ${end}\n`);
}

/** Ends a pause, also that of a module without a directory: it would count again with the next module of that name. */
export async function resumeResponse(
  { view, pauses }: { readonly view: DaemonView; readonly pauses: PauseCommands },
  module: string | undefined,
  signal: AbortSignal,
): Promise<RouteResponse> {
  // Read before the resume, which removes it.
  const holder = view.modules().find((each) => each.module === module)?.paused?.handedOverTo;
  const wasPaused = await pauses.resume(module, signal);
  if (wasPaused && holder !== undefined)
    return textResponse(
      `${titleOf(module)} taken back from addon-operator dev of ${holder}: it runs here when its hooks and helm there have ended\n`,
    );
  if (wasPaused) return textResponse(`${titleOf(module)} resumed\n`);
  if (module !== undefined && view.module(module) === undefined) return noModuleResponse(module);
  const hint = module === undefined ? '' : '; a pause of all modules ends with `addon-operator resume`';
  return errorResponse(404, 'REQUEST_REFUSED', `${titleOf(module)} not paused${hint}`);
}

/** Lets a module go whose HTTP hook cannot finalize it. */
export async function releaseFinalizerResponse(
  release: ReleaseFinalizer,
  module: string,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const outcome = await release(module, signal);
  switch (outcome) {
    case 'enabled':
      return errorResponse(409, 'REQUEST_REFUSED', `module ${module} is enabled: disable it first`);
    case 'deleting':
      return textResponse(`module ${module} is deleted without its reconcile webhook\n`);
    case 'released':
      return textResponse(`the Module object of ${module} is released\n`);
    case 'not-held':
      return errorResponse(404, 'REQUEST_REFUSED', `${module} does not wait for a reconcile webhook`);
  }
}

/** The subject of a sentence: one module, or all of them. */
function titleOf(module: string | undefined): string {
  return module === undefined ? 'all modules are' : `module ${module} is`;
}

/** When a pause ends. @throws Error with a sentence for the user */
function endOf(duration: string, until: string, nowMs: number): number | undefined {
  if (duration !== '' && until !== '') throw new Error("give either 'for' or 'until', not both");
  if (duration !== '') {
    const forMs = parseGoDuration(duration);
    if (forMs === undefined || forMs <= 0)
      throw new Error(`cannot read the duration "${duration}": use one such as 2h or 30m`);
    return nowMs + forMs;
  }
  if (until === '') return undefined;
  const untilMs = Date.parse(until);
  if (Number.isNaN(untilMs))
    throw new Error(`cannot read the time "${until}": use one such as 2026-05-31T18:00:00Z`);
  if (untilMs <= nowMs) throw new Error(`the time "${until}" is in the past`);
  return untilMs;
}
