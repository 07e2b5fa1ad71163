import type { RouteResponse } from '@addon-operator/http-server/response';
import { type Standby, standbyText } from '../../status/standby.ts';
import { jsonResponse } from './api-response.ts';

/** The response to every path of the API on a replica that does not lead. */
export function standbyResponse(standby: Standby): RouteResponse {
  const error = { code: 'STANDBY', message: standbyText(standby) } as const;
  return { ...jsonResponse(503, { error, standby }), code: error.code };
}
