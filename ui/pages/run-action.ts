/** Requests an action on a module. */

import { ApiError, request } from '../lib/api.ts';
import { pathTo } from '../lib/places.ts';
import type { OperationResponse } from '../lib/responses.ts';
import { capital } from '../parts/sentence.tsx';

/** The body of a request for an action. */
export interface Order {
  readonly action: 'reconcile' | 'force-reconcile' | 'abort' | 'pause' | 'resume' | 'rollback';
  readonly reason?: string;
  readonly for?: string;
  readonly to?: string;
  readonly withValues?: string;
}

/** Sends the request; a refusal is a text to show, not an exception. */
export async function runAction(module: string, body: Order): Promise<{ text: string; isError: boolean }> {
  try {
    const response = await request(pathTo(['modules', module, 'actions']), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { operation } = (await response.json()) as OperationResponse;
    return { text: capital(operation.message), isError: false };
  } catch (error) {
    return { text: error instanceof ApiError ? error.message : String(error), isError: true };
  }
}
