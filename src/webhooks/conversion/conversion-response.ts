/**
 * Handles one ConversionReview: parse, convert with a time limit, respond. A malformed request gets 400, a conversion that
 * fails gets 200 with status Failure and a message, as the API requires.
 */

import type { SteadyClock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { TlsResponse, WebhookRequest } from '@addon-operator/http-server/tls-server';
import { isObject, parseJson, stringifyJson } from '@addon-operator/json';
import { limitMsOf, withinLimit } from '../within-limit.ts';
import {
  type ConversionResult,
  type ConversionStep,
  convertObjects,
  type ReviewedConversion,
} from './convert-objects.ts';

export interface ConversionResponseOptions {
  /** The conversion steps of hooks for a custom resource definition, in the order they are declared. */
  readonly stepsFor: (crdName: string) => readonly ConversionStep[];
  readonly clock: SteadyClock;
  readonly log: Logger;
}

/** API servers wait so long for a conversion, and do not say so in the request. */
const TIMEOUT_MS = 30_000;

/** Handles a ConversionReview; the path of the request is `/<name of the custom resource definition>`. */
export async function conversionResponse(
  { path, body, timeoutMs = TIMEOUT_MS }: WebhookRequest,
  { stepsFor, clock, log }: ConversionResponseOptions,
  signal: AbortSignal,
): Promise<TlsResponse> {
  const review = parseReview(body);
  if (review === undefined) return badRequest('Invalid JSON payload');
  const request = parseRequest(review['request']);
  if (request === undefined) return badRequest('Missing parameters: request');
  const crdName = path.split('/').find((part) => part !== '') ?? '';
  const conversion = { crdName, request, steps: stepsFor(crdName), log: log.child({ crd: crdName }) };
  const limitMs = limitMsOf(timeoutMs);
  const converted = await withinLimit(clock, limitMs, signal, (limit) => convertObjects(conversion, limit));
  const result = converted.type === 'answered' ? converted.value : tooLate(crdName, limitMs);
  if (result.type === 'failure')
    log.warn({ crd: crdName, uid: request.uid, reason: result.message }, 'objects are not converted');
  const { apiVersion, kind } = review;
  const response = { uid: request.uid, ...responseOf(result) };
  return { status: 200, type: 'json', body: stringifyJson({ apiVersion, kind, response }) };
}

/** Undefined for anything that is no JSON object. */
function parseReview(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const review = parseJson(body);
    return isObject(review) ? review : undefined;
  } catch {
    return undefined;
  }
}

/** The fields that the API requires; others are passed on to hooks. */
function parseRequest(request: unknown): ReviewedConversion | undefined {
  if (!isObject(request)) return undefined;
  const { uid, desiredAPIVersion, objects = [] } = request;
  if (typeof uid !== 'string' || typeof desiredAPIVersion !== 'string' || !Array.isArray(objects))
    return undefined;
  return { ...request, uid, desiredAPIVersion, objects };
}

function responseOf(result: ConversionResult) {
  return result.type === 'success'
    ? { result: { status: 'Success' }, convertedObjects: result.objects }
    : { result: { status: 'Failure', message: result.message } };
}

/** Names the two usual reasons, since the API server says only that the webhook failed. */
function tooLate(crdName: string, limitMs: number): ConversionResult {
  const message = `Conversion ${crdName} was not done within ${limitMs / 1_000} s: hooks are slow, or too many requests wait for them (--webhook-max-runs)`;
  return { type: 'failure', message };
}

function badRequest(message: string): TlsResponse {
  return { status: 400, type: 'text', body: `${message}\n` };
}
