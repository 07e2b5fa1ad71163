/** The debug request and the action of the API that take a module back to an earlier revision. */

import { errorResponse, type RouteResponse, textResponse } from '@addon-operator/http-server/response';
import type { RollbackModule } from '../status/module-rollback.ts';

/** Rolls a module back, as a form says it: `to`, `withValues`, `dryRun`. */
export async function rollbackResponse(
  rollback: RollbackModule,
  module: string,
  form: URLSearchParams,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const to = form.get('to') ?? '';
  const order = {
    to: to === '' ? undefined : to,
    withValues: form.get('withValues') === 'true',
    isDryRun: form.get('dryRun') === 'true',
  };
  const outcome = await rollback(module, order, signal);
  if (outcome.type === 'refused')
    return errorResponse(409, 'REQUEST_REFUSED', `module ${module} cannot be rolled back: ${outcome.reason}`);
  if (outcome.type === 'switched')
    return textResponse(
      [
        `module ${module} is switched back to version ${outcome.version}`,
        ...(outcome.keptCrds ?? []),
        '',
      ].join('\n'),
    );
  const version = outcome.version === '' ? '' : ` (version ${outcome.version})`;
  const target =
    outcome.revision === undefined ? `version ${outcome.version}` : `revision ${outcome.revision}${version}`;
  switch (outcome.type) {
    case 'planned':
      return textResponse(`module ${module} would be rolled back to ${target}\n`);
    case 'continues':
      return textResponse(
        `the rollback of module ${module} to ${target} continues: see "explain module ${module}"\n`,
      );
    case 'done':
      return textResponse(
        `module ${module} is rolled back to ${target}, which is revision ${outcome.newRevision} now: it is paused until its files change or it is resumed\n`,
      );
  }
}
