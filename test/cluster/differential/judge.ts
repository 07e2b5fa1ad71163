import { isObject } from '@addon-operator/json';
import { listAt, stringAt } from '../../../packages/kube-sandbox/src/json-access.ts';
import type { JudgedObject } from './judged-objects.ts';
import { commonWarnings, normalise } from './normalise.ts';
import type { RawClient, RawResponse } from './raw-client.ts';

/** What a server says to an object. */
export interface Judgement {
  readonly status: number;
  readonly warnings: string;
  /** Reason, message and details of a failure; of a success nothing. */
  readonly failure: unknown;
}

/** Sends an object to a server, as a dry run where that is enough. */
export async function judge(
  client: RawClient,
  { path, object, replacement, fieldValidation, isLoose = false }: JudgedObject,
  namespace: string,
): Promise<Judgement> {
  const collection = path.replaceAll('{ns}', namespace);
  const query = `fieldManager=judge&fieldValidation=${fieldValidation}`;
  if (replacement === undefined) {
    const dryRun = `${collection}?${query}&dryRun=All`;
    return judgement(await client(write('POST', dryRun, object)));
  }
  await client(write('POST', `${collection}?${query}`, object));
  const name = isObject(object['metadata']) ? String(object['metadata']['name']) : '';
  const replaced = await client(write('PUT', `${collection}/${name}?${query}`, replacement));
  return isLoose ? loosely(replaced) : judgement(replaced);
}

function write(method: string, path: string, body: object): Parameters<RawClient>[0] {
  return { method, path, contentType: 'application/json', body: JSON.stringify(body) };
}

function judgement({ status, warnings, body }: RawResponse): Judgement {
  const failure = isObject(body) && body['kind'] === 'Status' ? normalise(body) : {};
  return { status, warnings: commonWarnings(warnings), failure };
}

/** Status, reason and the fields of the causes. */
function loosely({ status, warnings, body }: RawResponse): Judgement {
  const causes = listAt(body, 'details', 'causes').map((cause) => [
    stringAt(cause, 'field'),
    stringAt(cause, 'reason'),
  ]);
  return {
    status,
    warnings: commonWarnings(warnings),
    failure: { reason: stringAt(body, 'reason'), causes },
  };
}
