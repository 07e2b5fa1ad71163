/** Requests an action of the operator, at the address that its target has. */

import { ACTIONS, type ActionField } from '../../src/server/api/actions.ts';
import type { ActionName } from '../../src/status/action-names.ts';
import { ApiError, request } from './api.ts';
import { pathTo } from './places.ts';
import type { OperationResponse } from './responses.ts';

/** What an action is done with: of these the one that the action needs. */
export interface ActionTarget {
  readonly module?: string;
  readonly queue?: string;
  readonly hook?: string;
  readonly binding?: string;
}

/** Fields of the request that the target does not have. */
export type ActionFields = Readonly<Partial<Record<ActionField, string>>>;

/** The result for people; a refusal is a text to show, not an exception. */
export interface ActionResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The fields of the target that the action takes. */
function fieldsOf(action: ActionName, target: ActionTarget): ActionFields {
  const { needs, takes } = ACTIONS[action];
  const known = (['queue', 'hook', 'binding'] as const).filter(
    (name) => [...needs, ...takes].includes(name) && (target[name] ?? '') !== '',
  );
  return Object.fromEntries(known.map((name) => [name, target[name]]));
}

/** The name of the target, such as `queue main`. */
export function targetName(action: ActionName, { module, queue, hook }: ActionTarget): string {
  switch (ACTIONS[action].target) {
    case 'module':
      return `module ${module}`;
    case 'queue':
      return `queue ${queue}`;
    case 'hook':
      return `hook ${hook}`;
    case 'operator':
      return 'all modules';
  }
}

/** Sends the request. */
export async function runAction(
  action: ActionName,
  target: ActionTarget,
  fields: ActionFields = {},
): Promise<ActionResult> {
  const isOfModule = ACTIONS[action].target === 'module';
  const path = isOfModule ? pathTo(['modules', target.module ?? '', 'actions']) : 'actions';
  try {
    const response = await request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ action, ...fieldsOf(action, target), ...fields }),
    });
    const { operation } = (await response.json()) as OperationResponse;
    return { text: operation.message, isError: false };
  } catch (error) {
    return { text: error instanceof ApiError ? error.message : String(error), isError: true };
  }
}
