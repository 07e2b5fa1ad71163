// The extension points, one function per point: each checks what an extension passes to `next()`
// and what it returns, so that an invalid object never reaches helm. `deploy-steps.ts` and
// `release-points.ts` call them through `pointOf`, which finds the extensions of an object's kind.

import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import { isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import {
  block,
  type DeployError,
  type ErrorDetails,
  errorDetails,
  notReady,
  type PostReconcileResult,
  type PreReconcileResult,
  proceed,
  ready,
} from '@addon-operator/sdk';
import type { HostSet } from './customizations.ts';
import {
  chainPoints,
  createPoint,
  type Point,
  type PointHost,
  readDelay,
  readObject,
  readText,
  unusable,
} from './point.ts';

/** `modifyManifest`: changes an object between rendering and applying. */
export function createManifestModifier(host: PointHost | undefined): Point<KubeObject, KubeObject> {
  const read = (value: unknown, object: KubeObject): KubeObject =>
    readObject('modifyManifest', value, object);
  return createPoint({ method: 'modifyManifest', readInput: read, readResult: read }, host);
}

/** `preReconcileCheck`: decides whether an object may be applied now. */
export function createPreReconcileChecker(
  host: PointHost | undefined,
): Point<KubeObject, PreReconcileResult> {
  return createPoint(
    {
      method: 'preReconcileCheck',
      readInput: (given, object) => readObject('preReconcileCheck', given, object),
      readResult: (returned) => {
        if (!isObject(returned) || typeof returned['proceed'] !== 'boolean')
          throw unusable('preReconcileCheck', 'it must be created by proceed() or block()');
        if (returned['proceed']) return proceed();
        const { reason, retryAfterMs } = readDelay('preReconcileCheck', returned);
        return block(reason, retryAfterMs);
      },
    },
    host,
  );
}

/** `postReconcileCheck`: decides whether an applied object is ready. */
export function createPostReconcileChecker(
  host: PointHost | undefined,
): Point<KubeObject, PostReconcileResult> {
  return createPoint(
    {
      method: 'postReconcileCheck',
      readInput: (given, object) => readObject('postReconcileCheck', given, object),
      readResult: (returned) => {
        if (!isObject(returned) || typeof returned['ready'] !== 'boolean')
          throw unusable('postReconcileCheck', 'it must be created by ready() or notReady()');
        if (returned['ready']) return ready();
        const { reason, retryAfterMs } = readDelay('postReconcileCheck', returned);
        return notReady(reason, retryAfterMs);
      },
    },
    host,
  );
}

/** `onSuccess`: called after an object was applied for the first time. */
export function createSuccessHandler(host: PointHost | undefined): Point<KubeObject, void> {
  return createPoint<KubeObject, void>(
    {
      method: 'onSuccess',
      readInput: (given, object) => readObject('onSuccess', given, object),
      readResult: () => undefined,
    },
    host,
  );
}

/** `delete`: called when an object is deleted. */
export function createDeleter(host: PointHost | undefined): Point<KubeObject, void> {
  return createPoint<KubeObject, void>(
    {
      method: 'delete',
      readInput: (given, object) => readObject('delete', given, object),
      readResult: () => undefined,
    },
    host,
  );
}

/** A failed deployment, with the object that caused it. */
export type ReleaseError = Omit<DeployError, 'object'> & { readonly object: KubeObject };

/** The facts about a failure that do not depend on the object. */
export type ReleaseCause = Pick<ReleaseError, 'status' | 'reason' | 'message'>;

/** `classifyError`: decides whether a failed deployment is retried. */
export function createErrorClassifier(host: PointHost | undefined): Point<ReleaseError, ErrorDetails> {
  return createPoint(
    {
      method: 'classifyError',
      readInput: (given, error) => {
        if (!isObject(given)) throw unusable('classifyError', 'next() must be called with the error');
        const { code, status, reason, message } = given;
        if (status !== null && typeof status !== 'number')
          throw unusable('classifyError', 'status must be a number or null');
        return {
          code: readText('classifyError', 'code', code),
          status,
          reason: readText('classifyError', 'reason', reason),
          message: readText('classifyError', 'message', message),
          object: error.object,
        };
      },
      readResult: (returned) => {
        if (!isObject(returned)) throw unusable('classifyError', 'it must be created by errorDetails()');
        const { classification, code, message } = returned;
        if (classification !== 'retryable' && classification !== 'fatal')
          throw unusable('classifyError', 'classification must be "retryable" or "fatal"');
        return errorDetails(
          classification,
          readText('classifyError', 'code', code),
          readText('classifyError', 'message', message),
        );
      },
    },
    host,
  );
}

/**
 * The default classification: an unreachable server, 408, 409, 429 and 5xx are retryable, other
 * refusals fatal.
 *
 * @param isFatalAllowed false makes everything retryable, as the lifecycle requires by default
 */
export function classifyByStatus(error: ReleaseCause, isFatalAllowed: boolean): ErrorDetails {
  const { status, reason, message } = error;
  const isRefusal = status !== null && status >= 400 && status < 500;
  const isFatal = isFatalAllowed && isRefusal && ![408, 409, 429].includes(status);
  return errorDetails(isFatal ? 'fatal' : 'retryable', reason, message);
}

/**
 * The point for an object: with the extension of its module, then the operator-wide one, or with
 * none. An error names the object.
 */
export function pointOf<Input, Result>(
  create: (host: PointHost | undefined) => Point<Input, Result>,
  hosts: HostSet | undefined,
  object: KubeObject,
): Point<Input, Result> {
  const found = hosts?.find(object.apiVersion ?? '', object.kind ?? '') ?? [];
  if (found.length === 0) return create(undefined);
  const point = chainPoints(found.map(create));
  return async (...args) => {
    try {
      return await point(...args);
    } catch (cause) {
      if (!hasCode(cause, 'EXTENSION_FAILED')) throw cause;
      throw new OperatorError('EXTENSION_FAILED', `${quotedObject(object)}: ${messageOf(cause)}`, { cause });
    }
  };
}

/** The name of an object in messages. */
export function quotedObject({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} "${namespace === undefined ? name : `${namespace}/${name}`}"`;
}
