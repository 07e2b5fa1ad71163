import type { Answer } from '@addon-operator/http-server/answer';
import { type Standby, standbyText } from '../../status/standby.ts';
import { jsonAnswer } from './api-answer.ts';

/** What every path of the API answers on a replica that does not lead. */
export function standbyAnswer(standby: Standby): Answer {
  const error = { code: 'STANDBY', message: standbyText(standby) } as const;
  return { ...jsonAnswer(503, { error, standby }), code: error.code };
}
