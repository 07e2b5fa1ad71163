import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import {
  identityOf,
  type ManifestObject,
  objectKey,
  objectTitle,
} from '@addon-operator/helm/manifest-object';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { whyNotReady } from '@addon-operator/kube-client/readiness';
import { type ErrorDetails, notReady, type PostReconcileResult, proceed, ready } from '@addon-operator/sdk';
import type { PointMethod } from '@addon-operator/sdk/host';
import type { AppliedRelease, ReleaseSteps } from '../../releases/release-steps.ts';
import type { HostSet } from './customizations.ts';
import { failureCause, namedObjects } from './failure-cause.ts';
import {
  classifyByStatus,
  createErrorClassifier,
  createManifestModifier,
  createPostReconcileChecker,
  createPreReconcileChecker,
  createSuccessHandler,
  pointOf,
  quotedObject,
  type ReleaseCause,
  type ReleaseError,
} from './object-points.ts';
import { type Next, nextOf, type Point, type PointHost } from './point.ts';

export interface DeployStepsOptions {
  /** Undefined: only the defaults apply. */
  readonly hosts: HostSet | undefined;
  readonly log: Logger;
  readonly isFatalAllowed: boolean;
  /** Whether readiness is checked for all objects, not only for those of extended kinds. */
  readonly waitsUntilReady: boolean;
  readonly readObject: (object: ManifestObject, signal: AbortSignal) => Promise<KubeObject | undefined>;
  /** Why pods of a workload do not run; undefined if that is unknown. */
  readonly readPodTrouble: (workload: KubeObject, signal: AbortSignal) => Promise<string | undefined>;
  /**
   * Objects applied for the first time whose `onSuccess` has not succeeded; kept across
   * deployments.
   */
  readonly newObjects: () => readonly KubeObject[];
  readonly setNewObjects: (objects: readonly KubeObject[]) => void;
}

/** A reason to wait, with the time. */
interface Delay {
  readonly reason: string;
  readonly retryAfterMs: number;
}

/**
 * The extension points of one deployment: modify, check before, classify an error, call for new
 * objects, check readiness. The helm driver calls these steps at its own; an extension that throws
 * fails the attempt with EXTENSION_FAILED.
 */
export class DeploySteps implements ReleaseSteps {
  readonly isOpen = false;
  readonly digest: string;
  readonly ignoresObjects: boolean;
  readonly #options: DeployStepsOptions;
  /** The objects of the last attempt to apply, for the classification of its error. */
  #objects: readonly KubeObject[] = [];

  constructor(options: DeployStepsOptions) {
    this.#options = options;
    this.digest = options.hosts?.digest ?? '';
    this.ignoresObjects = options.hosts === undefined;
  }

  async transform(objects: readonly KubeObject[], signal: AbortSignal): Promise<readonly KubeObject[]> {
    this.#objects = objects;
    if (!this.#has('modifyManifest')) return objects;
    const result: KubeObject[] = [];
    const same: Next<KubeObject, KubeObject> = nextOf((object) => object);
    for (const object of objects)
      result.push(await this.#call(createManifestModifier, object, object, same, signal));
    this.#objects = result;
    return result;
  }

  /** @throws OperatorError RELEASE_BLOCKED */
  async beforeApply(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    if (!this.#has('preReconcileCheck')) return;
    const delays: Delay[] = [];
    for (const object of objects) {
      const result = await this.#call(createPreReconcileChecker, object, object, nextOf(proceed), signal);
      if (!result.proceed) delays.push({ ...result, reason: `${quotedObject(object)}: ${result.reason}` });
    }
    throwDelay('RELEASE_BLOCKED', 'Nothing is applied yet', delays);
  }

  afterApply({ added }: AppliedRelease): Promise<void> {
    if (!this.#has('onSuccess')) return Promise.resolve();
    const { newObjects, setNewObjects } = this.#options;
    const keys = new Set(added.map((object) => objectKey(identityOf(object))));
    // Objects of an earlier attempt are still new if their extension has not succeeded yet.
    const earlier = newObjects().filter((object) => !keys.has(objectKey(identityOf(object))));
    setNewObjects([...earlier, ...added.filter((object) => this.#extends('onSuccess', object))]);
    return Promise.resolve();
  }

  /** The same error, or one with its classification; a fatal one is permanent. */
  async onFailure(error: OperatorError, signal: AbortSignal): Promise<OperatorError> {
    try {
      const all = await this.#classify(error, signal);
      // One fatal object makes the whole deployment fatal.
      const details = all.find(({ classification }) => classification === 'fatal') ?? all[0];
      if (details === undefined) return error;
      const isPermanent = details.classification === 'fatal';
      const isSameMessage = details.message === error.message;
      const words = [
        ...(isPermanent ? ['fatal'] : []),
        details.code,
        ...(isSameMessage ? [] : [details.message]),
      ];
      if (isSameMessage && !isPermanent) return error;
      return new OperatorError(error.code, `${error.message} (${words.join(': ')})`, {
        cause: error,
        isPermanent,
      });
    } catch (failure) {
      signal.throwIfAborted();
      return new OperatorError(
        error.code,
        `${error.message} (an extension failed to classify this: ${messageOf(failure)})`,
        { cause: error },
      );
    }
  }

  /** @throws OperatorError RELEASE_NOT_READY; errors of extensions for new objects */
  async whenDeployed(objects: readonly ManifestObject[], signal: AbortSignal): Promise<void> {
    await this.#callForNewObjects(signal);
    const { waitsUntilReady } = this.#options;
    if (!waitsUntilReady && !this.#has('postReconcileCheck')) return;
    const delays: Delay[] = [];
    for (const object of objects) {
      if (!waitsUntilReady && !this.#extends('postReconcileCheck', object)) continue;
      const delay = await this.#readinessOf(object, signal);
      if (delay !== undefined) delays.push(delay);
    }
    throwDelay('RELEASE_NOT_READY', 'Objects are applied, but not ready', delays);
  }

  async #callForNewObjects(signal: AbortSignal): Promise<void> {
    const { newObjects, setNewObjects } = this.#options;
    for (const object of newObjects()) {
      await this.#call(
        createSuccessHandler,
        object,
        object,
        nextOf(() => undefined),
        signal,
      );
      // Removed one by one: a failure must not call the extension of the others again.
      setNewObjects(newObjects().filter((other) => other !== object));
    }
  }

  async #readinessOf(identity: ManifestObject, signal: AbortSignal): Promise<Delay | undefined> {
    const live = await this.#options.readObject(identity, signal);
    const result =
      live === undefined
        ? notReady('it does not exist')
        : await this.#call(createPostReconcileChecker, live, live, nextOf(byStatus), signal);
    if (result.ready) return undefined;
    // The status rarely says why a workload is not ready, but its pods do.
    const trouble = live === undefined ? undefined : await this.#options.readPodTrouble(live, signal);
    const reason = trouble === undefined ? result.reason : `${result.reason}, ${trouble}`;
    return { ...result, reason: `${objectTitle(identity)}: ${reason}` };
  }

  async #classify(error: OperatorError, signal: AbortSignal): Promise<readonly ErrorDetails[]> {
    const { code, message } = error;
    const facts = { code, message, ...failureCause(error) };
    const byDefault = (one: ReleaseCause): ErrorDetails =>
      classifyByStatus(one, this.#options.isFatalAllowed);
    const next: Next<ReleaseError, ErrorDetails> = nextOf(byDefault);
    const named = namedObjects(message, this.#objects);
    // Without an object there is no extension to ask.
    if (named.length === 0) return [byDefault(facts)];
    const all: ErrorDetails[] = [];
    for (const object of named)
      all.push(await this.#call(createErrorClassifier, object, { ...facts, object }, next, signal));
    return all;
  }

  #has(method: PointMethod): boolean {
    return this.#options.hosts?.has(method) === true;
  }

  #extends(
    method: PointMethod,
    { apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>,
  ): boolean {
    const hosts = this.#options.hosts?.find(apiVersion, kind) ?? [];
    return hosts.some((host) => host[method] !== undefined);
  }

  #call<Input, Result>(
    create: (host: PointHost | undefined) => Point<Input, Result>,
    object: KubeObject,
    input: Input,
    next: Next<Input, Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { hosts, log } = this.#options;
    const objectLog = log.child({ object: quotedObject(object) });
    return pointOf(create, hosts, object)(input, next, object.apiVersion ?? '', objectLog, signal);
  }
}

function byStatus(object: KubeObject): PostReconcileResult {
  const why = whyNotReady(object);
  return why === undefined ? ready() : notReady(why);
}

function throwDelay(
  code: 'RELEASE_BLOCKED' | 'RELEASE_NOT_READY',
  what: string,
  delays: readonly Delay[],
): void {
  if (delays.length === 0) return;
  const reasons = delays.map(({ reason }) => reason).join('; ');
  // The shortest delay: the others are checked again then.
  throw new OperatorError(code, `${what}: ${reasons}`, {
    retryAfterMs: Math.min(...delays.map(({ retryAfterMs }) => retryAfterMs)),
  });
}
