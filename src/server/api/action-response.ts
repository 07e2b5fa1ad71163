/**
 * Actions that the page and other clients request: on a module at its address, on queues, hooks and the operator at
 * `/actions`. They have the same effects as the commands of the debug socket, whose functions are called here. An action
 * that was accepted returns 202, and is logged and recorded as an Event with the client that requested it.
 */

import { errorText } from '@addon-operator/base/error-text';
import { codeOf } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import { isObject, parseJson } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { ActionName } from '../../status/action-names.ts';
import type { DaemonView } from '../../status/daemon-view.ts';
import type { ModuleObjects } from '../../status/module-objects.ts';
import type { RollbackModule } from '../../status/module-rollback.ts';
import type { SetFlag } from '../../status/set-flag.ts';
import { hookAbortResponse, hookTriggerResponse, type TaskCommands } from '../hook-responses.ts';
import { noModuleResponse, type PauseCommands, pauseResponse, resumeResponse } from '../module-responses.ts';
import { operationResponse, type RequestOperation } from '../operation-response.ts';
import { queueRetryResponse } from '../queue-retry-response.ts';
import { rollbackResponse } from '../rollback-response.ts';
import { ACTION_FIELDS, ACTIONS, type ActionField, MODULE_ACTIONS, OPERATOR_ACTIONS } from './actions.ts';
import { apiError, apiFailure, jsonResponse } from './api-response.ts';
import type { AuditList } from './audit-list.ts';
import type { Requester } from './requester.ts';

/** An action that a user requested. */
export interface RequestedAction {
  readonly action: ActionName;
  /** The module that it concerns; empty for none. */
  readonly module: string;
  /** Such as `module web` or `queue main`. */
  readonly target: string;
  /** Empty if none was given. */
  readonly reason: string;
  /** The client, such as `page`. */
  readonly by: string;
}

export interface ActionParts {
  readonly view: DaemonView;
  readonly pauses: PauseCommands;
  readonly requestOperation: RequestOperation;
  readonly rollback: RollbackModule;
  readonly tasks: TaskCommands;
  /** Names of the hooks in operation, with `<module>/` in front of those of modules. */
  readonly hooks: () => readonly string[];
  readonly setFlag: SetFlag;
  readonly identity: { readonly nowIso: () => string };
  /** Called for each action that was carried out, to log and record it, and for each that its client may not request. */
  readonly onAction?: (action: RequestedAction, outcome: 'accepted' | 'forbidden') => void;
}

/** Where actions are recorded. */
export interface ActionRecords {
  readonly log: Logger;
  /** Where Events about modules are recorded, if there are any. */
  readonly objects: Pick<ModuleObjects, 'record'> | undefined;
  readonly stop: AbortSignal;
}

/** The client that requests something is to be found in the log and at the module. */
export function recordAction(
  { log, objects, stop }: ActionRecords,
  { module, action, target, reason, by }: RequestedAction,
  outcome: 'accepted' | 'forbidden',
): void {
  if (outcome === 'forbidden') {
    log.warn({ action, target, by }, 'an action is refused, because its client may not request it');
    return;
  }
  log.info({ ...(module !== '' && { module }), action, target, reason, by }, 'an action is requested');
  if (module === '') return;
  const why = reason === '' ? '' : `: ${reason}`;
  const what = target === `module ${module}` ? action : `${action} of ${target}`;
  const message = `${what} was requested with the ${by}${why}`;
  // It rejects on abort only, after which no Event is wanted.
  objects?.record(module, { type: 'Normal', reason: 'Requested', message }, stop).catch(() => undefined);
}

/** A reason becomes part of an Event and of the log. */
const MAX_REASON_CHARACTERS = 1_000;

/** A request that was checked. */
interface Order {
  readonly action: ActionName;
  /** Empty for an action that is not about a module. */
  readonly module: string;
  readonly fields: URLSearchParams;
}

/**
 * Does what the body of a request says, as the commands do: 202 with what was begun.
 *
 * @param module the module of the address; empty for `/actions`
 */
export async function actionResponse(
  parts: ActionParts & { readonly audit: AuditList },
  {
    module,
    body,
    requester,
  }: { readonly module: string; readonly body: string; readonly requester: Requester },
  signal: AbortSignal,
): Promise<RouteResponse> {
  const order = orderOf(body, module);
  if (typeof order === 'string') return apiError(400, 'REQUEST_INVALID', order);
  const { action, fields } = order;
  const { by } = requester;
  try {
    const concerned = moduleOf(parts, order);
    const requested = {
      action,
      module: concerned,
      target: targetOf(order),
      reason: fields.get('reason') ?? '',
      by,
    };
    const forbidden = await requester.refusalOf(ACTIONS[action].verb, concerned || undefined, signal);
    if (forbidden !== undefined) {
      parts.onAction?.(requested, 'forbidden');
      return apiError(403, 'REQUEST_REFUSED', forbidden);
    }
    const response = await tried(parts, order, signal);
    const message = response.body.trim();
    const { status, code = 'REQUEST_REFUSED' } = response;
    const result = status < 400 ? 'accepted' : status < 500 ? 'refused' : 'failed';
    const { target, reason } = requested;
    parts.audit.add({ time: parts.identity.nowIso(), by, action, target, reason, result, message });
    if (status >= 400) return apiError(status, code, message);
    parts.onAction?.(requested, 'accepted');
    return jsonResponse(202, { operation: { module, target, action, by, message } });
  } catch (error) {
    return apiFailure(error);
  }
}

/** Carries an action out; an error becomes a response, so that it is in the audit list too. */
async function tried(parts: ActionParts, order: Order, signal: AbortSignal): Promise<RouteResponse> {
  try {
    // The commands respond with text for a terminal.
    return await runAction(parts, order, signal);
  } catch (error) {
    return errorResponse(500, codeOf(error) ?? 'INTERNAL', errorText(error));
  }
}

/** Calls the command for an action. A pause may also be ended for a module without a directory. */
async function runAction(
  parts: ActionParts,
  { action, module, fields }: Order,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const { view, pauses, tasks, requestOperation } = parts;
  const operate = (operation: string): RouteResponse =>
    operationResponse(requestOperation, module, new URLSearchParams({ operation }));
  if (module !== '' && action !== 'resume' && view.module(module) === undefined)
    return noModuleResponse(module);
  switch (action) {
    case 'reconcile':
    case 'force-reconcile':
    case 'abort':
      return operate(action);
    // Helm writes each field of the chart that differs in the cluster.
    case 'heal-drift':
      return operate('force-reconcile');
    case 'pause':
      return await pauseResponse(pauses, module, fields, signal);
    case 'resume':
      return await resumeResponse({ view, pauses }, module, signal);
    case 'rollback':
      return await rollbackResponse(parts.rollback, module, fields, signal);
    case 'enable':
    case 'disable':
      return await flagResponse(parts.setFlag, module, action === 'enable', signal);
    case 'retry':
      return queueRetryResponse(tasks.retryHead, fields);
    case 'abort-hook':
    case 'drop-hook':
      if (!isKnownHook(parts, fields)) return noHookResponse(parts, fields);
      fields.set('drop', String(action === 'drop-hook'));
      return hookAbortResponse(tasks.abortHook, fields);
    case 'trigger-hook':
      if (!isKnownHook(parts, fields)) return noHookResponse(parts, fields);
      return hookTriggerResponse(tasks.triggerHook, fields);
    case 'pause-all':
      return await pauseResponse(pauses, undefined, fields, signal);
    case 'resume-all':
      return await resumeResponse({ view, pauses }, undefined, signal);
  }
}

/** Enables or disables a module by its flag. */
async function flagResponse(
  setFlag: SetFlag,
  module: string,
  isEnabled: boolean,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const outcome = await setFlag(module, isEnabled, signal);
  if (outcome.type === 'unknown') return noModuleResponse(module);
  const flag = `${outcome.flag}: "${isEnabled}"`;
  if (outcome.type === 'set') return textResponse(`${flag} is set in ConfigMap ${outcome.configMap}\n`);
  return errorResponse(
    409,
    'REQUEST_REFUSED',
    `ConfigMap ${outcome.configMap} has ${flag} already: "explain module ${module}" says what else decides`,
  );
}

/** A short name could mean hooks of several modules, to which the client may have different access. */
function isKnownHook({ hooks }: ActionParts, fields: URLSearchParams): boolean {
  return hooks().includes(fields.get('hook') ?? '');
}

function noHookResponse({ hooks }: ActionParts, fields: URLSearchParams): RouteResponse {
  const name = fields.get('hook') ?? '';
  return errorResponse(404, 'REQUEST_REFUSED', `there is no hook ${name}${didYouMean(name, hooks())}`);
}

/** The module whose access an action needs; empty: that to the operator as a whole. */
function moduleOf({ view, hooks }: ActionParts, { action, module, fields }: Order): string {
  switch (ACTIONS[action].target) {
    case 'module':
      return module;
    case 'operator':
      return '';
    case 'queue':
      return knownModule(view, headModule(view, fields.get('queue') ?? ''));
    case 'hook': {
      const hook = fields.get('hook') ?? '';
      // The commands also accept names without a module, so this may be the short name of another hook.
      const isShort = hooks().some((name) => name !== hook && name.slice(name.indexOf('/') + 1) === hook);
      if (isShort || view.globalHooks().includes(hook)) return '';
      return knownModule(view, hook.slice(0, Math.max(0, hook.indexOf('/'))));
    }
  }
}

function knownModule(view: DaemonView, name: string): string {
  return view.module(name) === undefined ? '' : name;
}

/** The module of the first task of a queue. */
function headModule(view: DaemonView, name: string): string {
  return view.taskQueues(1).find((queue) => queue.name === name)?.tasks[0]?.module ?? '';
}

function targetOf({ action, module, fields }: Order): string {
  switch (ACTIONS[action].target) {
    case 'module':
      return `module ${module}`;
    case 'queue':
      return `queue ${fields.get('queue') ?? ''}`;
    case 'hook':
      return `hook ${fields.get('hook') ?? ''}`;
    case 'operator':
      return 'all modules';
  }
}

/** The action and the fields of a body, as the forms of the commands have them, or what is wrong with it. */
function orderOf(body: string, module: string): Order | string {
  let data: unknown;
  try {
    data = parseJson(body);
  } catch {
    return 'the body is not JSON';
  }
  if (!isObject(data)) return 'the body must be an object';
  const fields = new URLSearchParams();
  const known = ['action', ...Object.keys(ACTION_FIELDS)];
  for (const [name, value] of Object.entries(data)) {
    if (!known.includes(name))
      return `unknown field "${name.slice(0, 100)}", expected some of ${known.join(', ')}`;
    if (typeof value !== 'string') return `"${name}" must be a string`;
    if (value.length > MAX_REASON_CHARACTERS)
      return `"${name}" must not be longer than ${MAX_REASON_CHARACTERS} characters`;
    fields.set(name, value);
  }
  const actions = module === '' ? OPERATOR_ACTIONS : MODULE_ACTIONS;
  const action = actions.find((each) => each === fields.get('action'));
  if (action === undefined) return `"action" must be one of ${actions.join(', ')}`;
  fields.delete('action');
  return fieldProblem(action, fields) ?? { action, module, fields };
}

/** A field that is missing, or would have no effect. */
function fieldProblem(action: ActionName, fields: URLSearchParams): string | undefined {
  const { needs, takes } = ACTIONS[action];
  const allowed: readonly string[] = ['reason', ...needs, ...takes];
  const misplaced = [...fields.keys()].find((name) => !allowed.includes(name)) as ActionField | undefined;
  if (misplaced !== undefined) return `"${misplaced}" is no field of ${action}`;
  const missing = needs.find((name) => (fields.get(name) ?? '') === '');
  return missing === undefined ? undefined : `${action} needs "${missing}"`;
}
