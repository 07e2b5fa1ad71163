import { parseJson } from '../lib/json.ts';
import type { Redactor } from '../lib/redactor.ts';
import type { Answer } from './answer.ts';

/** The answer without secrets. In JSON only texts are touched, so that it stays JSON whatever a secret looks like. */
export function redactedAnswer(answer: Answer, redactor: Pick<Redactor, 'data' | 'text'>): Answer {
  const body = redactor.text(answer.body);
  if (body === answer.body || answer.contentType !== 'application/json') return { ...answer, body };
  return { ...answer, body: `${JSON.stringify(redactor.data(parseJson(answer.body)))}\n` };
}
