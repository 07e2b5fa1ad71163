/** Interprets the response of an HTTP hook: a refusal with its reason, or the outputs in the form of files. */

import { isUtf8 } from 'node:buffer';
import { isObject, parseJsonVerbatim, parseSecretJson, stringifyJson } from '@addon-operator/json';
import { didYouMean } from '@addon-operator/json/similar-word';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import { escapeControls } from '@addon-operator/strings/escape-controls';

/** The parts of a response that are used. */
export interface HookResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  /** Where a redirect leads. */
  readonly location: string | undefined;
  /** The header `Retry-After`. */
  readonly retryAfter?: string | undefined;
  readonly body: Buffer;
}

/** Outcomes that are lists of objects. */
const LISTS = ['configValuesPatch', 'valuesPatch', 'metrics', 'kubernetesPatch'] as const;
/** Outcomes that are one object. */
const OBJECTS = ['admissionResponse', 'conversionResponse'] as const;
const FIELDS: readonly string[] = [...LISTS, ...OBJECTS];

/** The outputs of a hook that wrote nothing. */
export const NO_OUTPUTS: HookOutputContents = {
  configValuesPatch: '',
  valuesPatch: '',
  metrics: '',
  kubernetesPatch: '',
  admissionResponse: '',
  conversionResponse: '',
};

const JSON_TYPE = /^application\/(?:json|[^;,\s]+\+json)\s*(?:;|$)/i;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const SHOWN_CHARACTERS = 300;

/**
 * Why a response means that the hook failed; undefined when the hook succeeded.
 *
 * @param addressFile where its address is set, for the message
 */
export function responseFailure(
  { status, location, body }: HookResponse,
  addressFile: string,
): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (REDIRECTS.has(status)) {
    const target = location === undefined ? '' : ` to ${locationText(location)}`;
    return `it responded with a redirect${target} (status ${status}), which is not followed: set the final address in ${addressFile}`;
  }
  return `it responded with status ${status}${saidText(body)}`;
}

/**
 * The outputs in the response of a hook that succeeded, as the texts an executable would have written.
 *
 * @throws Error saying why the response cannot be used
 */
export function outputsOf({ contentType, body }: HookResponse): HookOutputContents {
  if (body.length === 0) return NO_OUTPUTS;
  if (contentType === undefined || !JSON_TYPE.test(contentType))
    throw new Error(
      `it responded with ${contentType === undefined ? 'no content type' : escapeControls(contentType)} in place of application/json${saidText(body)}`,
    );
  if (!isUtf8(body)) throw new Error('its response is not UTF-8');
  const response = parseSecretJson(
    body.toString('utf8'),
    'its response is not valid JSON',
    parseJsonVerbatim,
  );
  if (!isObject(response))
    throw new Error(`its response is not a JSON object; known fields: ${FIELDS.join(', ')}`);
  const unknown = Object.keys(response).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    throw new Error(
      `its response has an unknown field ${JSON.stringify(unknown)}${didYouMean(unknown, FIELDS)}; known: ${FIELDS.join(', ')}`,
    );
  return {
    ...NO_OUTPUTS,
    ...Object.fromEntries(LISTS.map((field) => [field, listText(field, response[field])])),
    ...Object.fromEntries(OBJECTS.map((field) => [field, objectText(field, response[field])])),
  };
}

function listText(field: string, list: unknown): string {
  if (list === undefined || list === null) return '';
  if (!Array.isArray(list)) throw new Error(`${field} in its response is not a list`);
  const wrong = list.findIndex((item) => !isObject(item));
  if (wrong !== -1) throw new Error(`${field}[${wrong}] in its response is not an object`);
  return list.map(stringifyJson).join('\n');
}

function objectText(field: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (!isObject(value)) throw new Error(`${field} in its response is not an object`);
  return stringifyJson(value);
}

/** The reason in the body of a response that cannot be used, after a colon: its `message`, or its beginning. */
export function saidText(body: Buffer): string {
  const text = body.toString('utf8');
  const said = (messageIn(text) ?? text).replaceAll(/\s+/g, ' ').trim();
  if (said === '') return '';
  const shown = said.length > SHOWN_CHARACTERS ? `${said.slice(0, SHOWN_CHARACTERS)}…` : said;
  return `: ${escapeControls(shown)}`;
}

function messageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value['message'] === 'string' ? value['message'] : undefined;
  } catch {
    return undefined;
  }
}

/** Without the query, which may hold secrets. */
function locationText(location: string): string {
  return escapeControls(location.replace(/[?#].*$/s, '').slice(0, SHOWN_CHARACTERS));
}
