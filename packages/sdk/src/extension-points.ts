import type { KubernetesObject } from './binding-contexts.ts';
import type { ErrorDetails, PostReconcileResult, PreReconcileResult } from './extension-results.ts';
import type { HookLog } from './hook-input.ts';

/** A deployment that failed over an object. */
export interface DeployError {
  /** The operator's code for it, `HELM_FAILED` for instance. */
  readonly code: string;
  /** The HTTP status the API server gave it; null where the failure has none, as when the server was not reached. */
  readonly status: number | null;
  /** The API server's word for it, such as `Conflict`, `Invalid`, `Forbidden`; `Unknown` if there is none. */
  readonly reason: string;
  readonly message: string;
  /** As it was to be applied. */
  readonly object: KubernetesObject;
}

type Awaitable<T> = T | Promise<T>;

/** Decides whether a failed deployment is tried again. */
export interface ErrorClassifier {
  /**
   * @param error what failed over an object of this kind
   * @param next classifies as it would be done without the extension
   * @param apiVersion the version in which the object was to be applied
   * @param log for records besides entry, exit and failure, which are logged anyway
   */
  classifyError(
    error: DeployError,
    next: (error: DeployError) => Promise<ErrorDetails>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<ErrorDetails>;
}

/** Changes objects between rendering and applying. */
export interface ManifestModifier {
  /**
   * Returns what is to be applied; kind and name have to stay. Without other input the same object must become the same
   * each time.
   *
   * @param object as it was rendered
   * @param next gives the object unchanged, or as the next extension makes it
   */
  modifyManifest(
    object: KubernetesObject,
    next: (object: KubernetesObject) => Promise<KubernetesObject>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<KubernetesObject>;
}

/** Holds a deployment back. */
export interface PreReconcileChecker {
  /**
   * Called before anything of the module is applied, not when nothing has changed.
   *
   * @param object as it is about to be applied
   * @param next lets it proceed
   */
  preReconcileCheck(
    object: KubernetesObject,
    next: (object: KubernetesObject) => Promise<PreReconcileResult>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<PreReconcileResult>;
}

/** Decides whether a module is ready. */
export interface PostReconcileChecker {
  /**
   * Called at the end of every deployment, also when nothing was applied.
   *
   * @param object as it is in the cluster now
   * @param next looks at the status as kubectl's `wait` and other tools do (kstatus)
   */
  postReconcileCheck(
    object: KubernetesObject,
    next: (object: KubernetesObject) => Promise<PostReconcileResult>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<PostReconcileResult>;
}

/** Takes part when objects are deleted. */
export interface Deleter {
  /**
   * Called before the release is uninstalled; again if anything of that fails. If it returns without having called
   * `next`, helm leaves the object alone, and the extension has to have done what is to be done.
   *
   * @param object as it was applied last
   * @param next leaves it to helm, which deletes it with the rest of the release when all extensions have returned
   */
  delete(
    object: KubernetesObject,
    next: (object: KubernetesObject) => Promise<void>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<void>;
}

/** Follows up on new objects. */
export interface SuccessHandler {
  /**
   * Called when an object was applied for the first time; again if it failed.
   *
   * @param object as it was applied
   * @param next does nothing
   */
  onSuccess(
    object: KubernetesObject,
    next: (object: KubernetesObject) => Promise<void>,
    apiVersion: string,
    log: HookLog,
  ): Awaitable<void>;
}

/** The methods of a host, of which it implements at least one. */
export type ExtensionHost = Partial<
  ErrorClassifier & ManifestModifier & PreReconcileChecker & PostReconcileChecker & Deleter & SuccessHandler
>;

/** The methods of the extension points. */
export const POINT_METHODS = [
  'classifyError',
  'modifyManifest',
  'preReconcileCheck',
  'postReconcileCheck',
  'delete',
  'onSuccess',
] as const satisfies readonly (keyof ExtensionHost)[];

export type PointMethod = (typeof POINT_METHODS)[number];
