import { isObject, parseJson } from '../../lib/json.ts';
import type { Logger } from '../../lib/log.ts';
import type { WebhookAnswer, WebhookRequest } from '../webhooks/tls-server.ts';
import {
  type ConversionRequest,
  type ConversionResult,
  type ConversionStep,
  convertObjects,
} from './convert-objects.ts';

export interface ConversionAnswerOptions {
  /** What hooks can do for a custom resource definition, in the order they are declared. */
  readonly stepsFor: (crdName: string) => readonly ConversionStep[];
  readonly log: Logger;
}

/** Answers a ConversionReview; the path of the request is `/<name of the custom resource definition>`. */
export async function conversionAnswer(
  { path, body }: WebhookRequest,
  { stepsFor, log }: ConversionAnswerOptions,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const review = parseReview(body);
  if (review === undefined) return badRequest('Invalid JSON payload');
  const request = parseRequest(review['request']);
  if (request === undefined) return badRequest('Missing parameters: request');
  const crdName = path.split('/').find((part) => part !== '') ?? '';
  const result = await convertObjects(
    { crdName, request, steps: stepsFor(crdName), log: log.child({ crd: crdName }) },
    signal,
  );
  if (result.type === 'failure')
    log.warn({ crd: crdName, uid: request.uid, reason: result.message }, 'objects are not converted');
  const { apiVersion, kind } = review;
  const response = { uid: request.uid, ...responseOf(result) };
  return { status: 200, type: 'json', body: JSON.stringify({ apiVersion, kind, response }) };
}

function parseReview(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const review = parseJson(body);
    return isObject(review) ? review : undefined;
  } catch {
    return undefined;
  }
}

function parseRequest(request: unknown): ConversionRequest | undefined {
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

function badRequest(message: string): WebhookAnswer {
  return { status: 400, type: 'text', body: `${message}\n` };
}
