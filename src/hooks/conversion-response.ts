import { isObject, parseSecretJson } from '../lib/json.ts';

/** What a hook answered to a conversion. */
export type ConversionResponse =
  | { readonly type: 'converted'; readonly objects: readonly unknown[] }
  | { readonly type: 'failed'; readonly message: string };

/**
 * Understands the file in `$CONVERSION_RESPONSE_PATH`; undefined for an empty one.
 *
 * @throws Error for anything but one JSON object with `convertedObjects` or `failedMessage`
 */
export function parseConversionResponse(text: string): ConversionResponse | undefined {
  if (text.trim() === '') return undefined;
  const answer = parseSecretJson(text, 'it is not valid JSON, or has more than one value');
  if (!isObject(answer)) throw new Error('a JSON object is expected');
  const { failedMessage, convertedObjects } = answer;
  if (failedMessage !== undefined && failedMessage !== '') {
    if (typeof failedMessage !== 'string') throw new Error('failedMessage must be a string');
    return { type: 'failed', message: failedMessage };
  }
  if (!Array.isArray(convertedObjects))
    throw new Error('convertedObjects (a list of objects) or failedMessage (a string) is expected');
  return { type: 'converted', objects: convertedObjects };
}
