import { parseJson } from '@addon-operator/json';
import { pathBeyond } from '@addon-operator/json/depth';

/** As many as the JSON reader of Go takes. */
const MAX_LEVELS = 10_000;

/** The JSON of a body; throws an Error with the reason that an API server gives, also for what is nested too deep. */
export function parseBodyJson(text: string, maxLevels = MAX_LEVELS): unknown {
  const value = parseJson(text);
  if (pathBeyond(value, maxLevels) !== undefined) throw new Error('exceeded max depth');
  return value;
}
