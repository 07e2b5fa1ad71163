/**
 * Actions on a module that the page requests: reconcile, abort, pause, resume. They have the same effects as the commands
 * of the debug socket, whose functions are called here. An action that was accepted returns 202, and is logged and
 * recorded as an Event with the channel through which it came.
 */

import type { Logger } from '@addon-operator/base/log';
import type { RouteResponse } from '@addon-operator/http-server/response';
import { isObject, parseJson } from '@addon-operator/json';
import type { DaemonView } from '../../status/daemon-view.ts';
import { OPERATIONS } from '../../status/module-object.ts';
import type { ModuleObjects } from '../../status/module-objects.ts';
import type { RollbackModule } from '../../status/module-rollback.ts';
import { noModuleResponse, type PauseCommands, pauseResponse, resumeResponse } from '../module-responses.ts';
import { operationResponse, type RequestOperation } from '../operation-response.ts';
import { rollbackResponse } from '../rollback-response.ts';
import { apiError, apiFailure, jsonResponse } from './api-response.ts';
import type { Requester } from './requester.ts';

export const MODULE_ACTIONS = [...OPERATIONS, 'pause', 'resume', 'rollback'] as const;

/** An action on a module that a user requested. */
export interface ModuleAction {
  readonly module: string;
  readonly action: (typeof MODULE_ACTIONS)[number];
  /** Empty if none was given. */
  readonly reason: string;
  /** The channel of the request, such as `page`. */
  readonly by: string;
}

export interface ModuleActionParts {
  readonly view: DaemonView;
  readonly pauses: PauseCommands;
  readonly requestOperation: RequestOperation;
  readonly rollback: RollbackModule;
  /** Called for each action that was carried out, to log and record it. */
  readonly onAction?: (action: ModuleAction) => void;
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
  { module, action, reason, by }: ModuleAction,
): void {
  log.info({ module, action, reason, by }, 'action on a module is requested');
  const why = reason === '' ? '' : `: ${reason}`;
  const message = `${action} was requested with the ${by}${why}`;
  // It rejects on abort only, after which no Event is wanted.
  objects?.record(module, { type: 'Normal', reason: 'Requested', message }, stop).catch(() => undefined);
}

const FIELDS = ['action', 'reason', 'for', 'to', 'withValues', 'dryRun'] as const;
/** Fields that belong to one action only, and what they are. */
const OWN_FIELDS = [
  { field: 'for', action: 'pause', what: 'the duration of a pause' },
  { field: 'to', action: 'rollback', what: 'the target of a rollback' },
  { field: 'withValues', action: 'rollback', what: 'an option of a rollback' },
  { field: 'dryRun', action: 'rollback', what: 'an option of a rollback' },
] as const;
/** A reason becomes part of an Event and of the log. */
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Does what the body of a request says with a module, as the commands do: 202 with what was begun.
 */
export async function moduleActionResponse(
  parts: ModuleActionParts,
  {
    module,
    body,
    requester,
  }: { readonly module: string; readonly body: string; readonly requester: Requester },
  signal: AbortSignal,
): Promise<RouteResponse> {
  const fields = fieldsOf(body);
  if (typeof fields === 'string') return apiError(400, 'REQUEST_INVALID', fields);
  const action = MODULE_ACTIONS.find((known) => known === fields.get('action'));
  if (action === undefined)
    return apiError(400, 'REQUEST_INVALID', `"action" must be one of ${MODULE_ACTIONS.join(', ')}`);
  const misplaced = OWN_FIELDS.find((own) => fields.has(own.field) && own.action !== action);
  if (misplaced !== undefined)
    return apiError(400, 'REQUEST_INVALID', `"${misplaced.field}" is ${misplaced.what}`);
  try {
    const forbidden = await requester.refusalOf(action, module, signal);
    if (forbidden !== undefined) return apiError(403, 'REQUEST_REFUSED', forbidden);
    const { by } = requester;
    // The commands respond with text for a terminal; here it becomes a field of JSON.
    const { status, code, body: content } = await runAction(parts, module, action, fields, signal);
    if (status >= 400) return apiError(status, code ?? 'REQUEST_REFUSED', content.trim());
    parts.onAction?.({ module, action, reason: fields.get('reason') ?? '', by });
    return jsonResponse(202, { operation: { module, action, by, message: content.trim() } });
  } catch (error) {
    return apiFailure(error);
  }
}

/** Calls the command for an action. A pause may also be ended for a module without a directory. */
async function runAction(
  { view, pauses, requestOperation, rollback }: ModuleActionParts,
  module: string,
  action: ModuleAction['action'],
  fields: URLSearchParams,
  signal: AbortSignal,
): Promise<RouteResponse> {
  if (action === 'resume') return await resumeResponse({ view, pauses }, module, signal);
  if (view.module(module) === undefined) return noModuleResponse(module);
  if (action === 'pause') return await pauseResponse(pauses, module, fields, signal);
  if (action === 'rollback') return await rollbackResponse(rollback, module, fields, signal);
  return operationResponse(requestOperation, module, new URLSearchParams({ operation: action }));
}

/** The fields of a body as the forms of the commands have them, or what is wrong with it. */
function fieldsOf(body: string): URLSearchParams | string {
  let data: unknown;
  try {
    data = parseJson(body);
  } catch {
    return 'the body is not JSON';
  }
  if (!isObject(data)) return 'the body must be an object';
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(data)) {
    if (!FIELDS.some((known) => known === name))
      return `unknown field "${name.slice(0, 100)}", expected some of ${FIELDS.join(', ')}`;
    if (typeof value !== 'string') return `"${name}" must be a string`;
    if (value.length > MAX_REASON_CHARACTERS)
      return `"${name}" must not be longer than ${MAX_REASON_CHARACTERS} characters`;
    fields.set(name, value);
  }
  return fields;
}
