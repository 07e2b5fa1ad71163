import { isUtf8 } from 'node:buffer';
import { fieldsOf, isObject, parseJson } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { escapeControls, shortLine } from '@addon-operator/strings/escape-controls';
import { type HookResponse, responseFailure, saidText } from '../../hooks/http/hook-response.ts';
import type { WebhookCapability } from '../../modules/reconcile-webhook.ts';
import { childKey } from './request-body.ts';

/** The parsed response of a reconcile webhook. */
export type WebhookResponse =
  | {
      readonly type: 'success';
      /** The new status of the Module object; undefined: unchanged. */
      readonly status: Readonly<Record<string, unknown>> | undefined;
      /** The objects to apply instead of the rendered ones; undefined: unchanged. */
      readonly children: readonly KubeObject[] | undefined;
    }
  | {
      readonly type: 'refusal';
      /** The reason, in the server's words if it gives any. */
      readonly message: string;
      /** The same request would get the same response, so a retry is pointless. */
      readonly isPermanent: boolean;
      /** The run continues although the webhook failed. */
      readonly isContinued: boolean;
    };

/** The request that a response belongs to. */
export interface SentRequest {
  readonly phase: WebhookCapability;
  /** The Module object that was sent. */
  readonly object: KubeObject;
  /** The default namespace of objects. */
  readonly namespace: string;
}

const UNCHANGED = { type: 'success', status: undefined, children: undefined } as const;
const MAX_SHOWN_CHARACTERS = 1_000;
const MAX_SHOWN_PROBLEMS = 5;
/** Far above the depth of any object; recursive code runs out of stack at some thousands. */
const MAX_LEVELS = 500;

/**
 * Parses a response. In the phase `finalize` its content is ignored.
 *
 * @throws Error when a success cannot be used; nothing of it is applied. The message never quotes
 *   objects, which may be Secrets
 */
export function readResponse(
  response: HookResponse,
  { phase, object, namespace }: SentRequest,
): WebhookResponse {
  const refusal = responseFailure(response, 'module.yaml');
  if (refusal !== undefined) return readRefusal(response.body, response.status, refusal);
  if (phase === 'finalize' || response.body.length === 0) return UNCHANGED;
  const content = parse(response);
  if (content === null) return UNCHANGED;
  if (!isObject(content)) throw new Error('its response is not a JSON object');
  if (isDeeper(content, MAX_LEVELS)) throw new Error(`its response has more than ${MAX_LEVELS} levels`);
  return {
    type: 'success',
    status: statusOf(content['object'], object),
    children: childrenOf(content['children'], namespace),
  };
}

function readRefusal(body: Buffer, status: number, otherwise: string): WebhookResponse {
  const content = parseOrNone(body);
  if (!isObject(content))
    return { type: 'refusal', message: otherwise, isPermanent: false, isContinued: false };
  const { message } = content;
  const said =
    typeof message === 'string' && message !== ''
      ? `it responded with status ${status}: ${shortened(message)}`
      : otherwise;
  return {
    type: 'refusal',
    message: said,
    isPermanent: content['permanent'] === true,
    isContinued: content['continue'] === true,
  };
}

function parse({ body, contentType }: HookResponse): unknown {
  if (!isUtf8(body)) throw new Error('its response is not UTF-8');
  const content = body.toString('utf8');
  if (content.trim() === '') return null;
  try {
    return parseJson(content);
  } catch {
    // The parser's message quotes the content, which may be that of a Secret.
    if (content.trimStart().startsWith('{')) throw new Error('its response is not valid JSON');
    const type = contentType === undefined ? 'no content type' : escapeControls(contentType);
    throw new Error(`its response is not JSON (${type})${saidText(body)}`);
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function parseOrNone(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function statusOf(object: unknown, sent: KubeObject): Readonly<Record<string, unknown>> | undefined {
  if (object === undefined || object === null) return undefined;
  if (!isObject(object)) throw new Error('object in its response is not an object');
  const metadata = fieldsOf(object['metadata']);
  refuseOther('name', metadata['name'], sent.metadata.name);
  refuseOther('kind', object['kind'], sent.kind);
  const { status } = object;
  if (status === undefined || status === null) return undefined;
  if (!isObject(status)) throw new Error('object.status in its response is not an object');
  return Object.keys(status).length === 0 ? undefined : status;
}

// Another object in the response means that the server mixed up its requests.
function refuseOther(what: string, is: unknown, was: string | undefined): void {
  if (is === undefined || is === was) return;
  throw new Error(
    `object in its response has a different ${what} than the request: ${shortened(JSON.stringify(is))}`,
  );
}

function childrenOf(children: unknown, namespace: string): readonly KubeObject[] | undefined {
  if (children === undefined || children === null) return undefined;
  if (!isObject(children)) throw new Error('children in its response is not an object');
  const entries = Object.entries(children);
  if (entries.length === 0) return undefined;
  const problems = entries.flatMap(([key, child]) => childProblems(child).map((why) => `"${key}" ${why}`));
  // Each child was checked above.
  const objects = entries.map(([key, child]) => [key, child as KubeObject] as const);
  if (problems.length === 0) problems.push(...doubles(objects, namespace));
  if (problems.length > 0) {
    const list = problems.slice(0, MAX_SHOWN_PROBLEMS).map(shortened).join(', ');
    const more =
      problems.length > MAX_SHOWN_PROBLEMS ? `, and ${problems.length - MAX_SHOWN_PROBLEMS} more` : '';
    throw new Error(`children in its response cannot be applied: ${list}${more}`);
  }
  return objects.map(([, child]) => child);
}

function childProblems(child: unknown): readonly string[] {
  if (!isObject(child)) return ['is not an object'];
  const metadata = fieldsOf(child['metadata']);
  const wanted = { apiVersion: child['apiVersion'], kind: child['kind'], 'metadata.name': metadata['name'] };
  return Object.entries(wanted).flatMap(([field, value]) =>
    typeof value === 'string' && value !== '' ? [] : [`has no ${field}`],
  );
}

function doubles(entries: readonly (readonly [string, KubeObject])[], namespace: string): readonly string[] {
  const first = new Map<string, string>();
  return entries.flatMap(([key, child]) => {
    const { metadata } = child;
    const place = childKey({
      ...child,
      metadata: { ...metadata, namespace: metadata.namespace || namespace },
    });
    const same = first.get(place);
    if (same === undefined) first.set(place, key);
    return same === undefined ? [] : [`"${key}" is the same object as "${same}"`];
  });
}

function shortened(message: string): string {
  return shortLine(message.replaceAll(/\s+/gu, ' ').trim(), MAX_SHOWN_CHARACTERS);
}
