/** Parses AdmissionReview requests and writes the responses, in the version in which the request came (v1 or v1beta1). */

import type { TlsResponse } from '@addon-operator/http-server/tls-server';
import { isObject, parseJsonVerbatim } from '@addon-operator/json';

/** A question of the API server. Numbers in it are kept as they were written. */
export interface AdmissionReview {
  readonly apiVersion: unknown;
  readonly kind: unknown;
  readonly uid: unknown;
  /** The part that hooks receive: with `object`, `oldObject` and `options` in any case. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The verdict that is sent to the API server. */
export type AdmissionVerdict =
  | { readonly type: 'allowed'; readonly warnings: readonly string[]; readonly patch: string }
  | {
      readonly type: 'denied';
      /** 403 from the hook, 500 without a response of the hook. */
      readonly code: number;
      readonly message: string;
      readonly warnings: readonly string[];
    };

/** Understands the body of a request, or says why it cannot. */
export function parseAdmissionReview(body: string): AdmissionReview | TlsResponse {
  let review: unknown;
  try {
    review = parseJsonVerbatim(body);
  } catch {
    return badRequest('Invalid JSON payload');
  }
  if (!isObject(review)) return badRequest('Invalid JSON payload');
  const { apiVersion, kind, request } = review;
  if (!isObject(request)) return badRequest('Missing parameters: request');
  const { object = null, oldObject = null, options = null, uid } = request;
  return { apiVersion, kind, uid, request: { ...request, object, oldObject, options } };
}

function badRequest(body: string): TlsResponse {
  return { status: 400, type: 'text', body };
}

/** The review as it goes back. */
export function admissionResponse(review: AdmissionReview, verdict: AdmissionVerdict): TlsResponse {
  const { apiVersion, kind, uid } = review;
  const warnings = verdict.warnings.length === 0 ? {} : { warnings: verdict.warnings };
  const response =
    verdict.type === 'allowed'
      ? {
          uid,
          allowed: true,
          ...warnings,
          ...(verdict.patch === '' ? {} : { patch: verdict.patch, patchType: 'JSONPatch' }),
        }
      : {
          uid,
          allowed: false,
          status: { code: verdict.code, message: verdict.message },
          ...warnings,
        };
  return { status: 200, type: 'json', body: JSON.stringify({ apiVersion, kind, response }) };
}
