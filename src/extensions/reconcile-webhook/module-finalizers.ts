import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson, parseJson } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { Module } from '../../modules/module.ts';
import { type ReconcileWebhook, readReconcileWebhook } from '../../modules/reconcile-webhook.ts';
import type { WebhookSteps } from './webhook-steps.ts';

/** Finalizers of Module objects. */
interface HeldModules {
  /** The state known from the watch; undefined before its first list. Sends no request. */
  isKnownAsHeld(module: string): boolean | undefined;
  /** Adds the finalizer, and stores the definition on the object. */
  hold(module: string, definition: string, signal: AbortSignal): Promise<void>;
  /** The stored definition; undefined for an object without the finalizer. */
  heldBy(module: string, signal: AbortSignal): Promise<string | undefined>;
  release(module: string, signal: AbortSignal): Promise<void>;
}

interface ModuleFinalizersDeps {
  readonly hooks: Pick<WebhookSteps, 'finalize'>;
  readonly objects: HeldModules;
  /** The objects of a release; empty without one. */
  readonly deployed: (release: string, signal: AbortSignal) => Promise<readonly KubeObject[]>;
  readonly log: Logger;
  /** The module is deleted although its webhook was not called. */
  readonly onSkip: (module: string, signal: AbortSignal) => Promise<void>;
}

type NamedModule = Pick<Module, 'name' | 'manifest'>;

/**
 * Ensures that a module is deleted only after its reconcile webhook has agreed. The finalizer on
 * the Module object, with the definition of the webhook, survives restarts and the removal of the
 * module's directory. Module runs call `hold`, deletions and purges call `finalize…` and then
 * `release…`.
 */
export class ModuleFinalizers {
  readonly #deps: ModuleFinalizersDeps;
  /** Modules whose servers have agreed, but which still exist. */
  readonly #finalized = new Set<string>();
  /** Modules whose webhooks must not be called any more. */
  readonly #skipped = new Set<string>();
  /** Running calls of webhooks; an abort ends them. */
  readonly #calls = new Map<string, AbortController>();
  /** Objects that this process has held; the watch reports them later. */
  readonly #held = new Set<string>();

  constructor(deps: ModuleFinalizersDeps) {
    this.#deps = deps;
  }

  /**
   * Called before any part of a module is deployed: from now on its deletion needs the webhook's
   * agreement.
   */
  async hold({ name, manifest: { hook } }: NamedModule, signal: AbortSignal): Promise<void> {
    this.#finalized.delete(name);
    this.#skipped.delete(name);
    const { objects } = this.#deps;
    if (isFinalizer(hook)) {
      // Noted before the request, since it may succeed although its response is lost.
      this.#held.add(name);
      await objects.hold(name, canonicalJson(hook.definition), signal);
      return;
    }
    // Before the first list of the watch the API server is queried.
    const isHeld = this.#held.has(name) || (objects.isKnownAsHeld(name) ?? (await this.isHeld(name, signal)));
    if (isHeld) await objects.release(name, signal);
    this.#held.delete(name);
  }

  /**
   * Called before any part of a module is deleted. After the agreement the webhook is not called
   * again, unless the operator restarts.
   *
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT: the module must stay for now
   */
  async finalize({ name, manifest }: NamedModule, signal: AbortSignal): Promise<void> {
    if (isFinalizer(manifest.hook)) await this.#finalizeBy(name, manifest.hook, signal);
    // A deletion cannot be undone, so the object is read instead of trusting the watch.
    else await this.finalizeAbandoned(name, signal);
  }

  /**
   * The same for a module without a directory, with the definition stored on its object.
   *
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT; MODULE_INVALID when the definition cannot be
   *   read
   */
  async finalizeAbandoned(name: string, signal: AbortSignal): Promise<void> {
    const noted = await this.#deps.objects.heldBy(name, signal);
    if (noted !== undefined) await this.#finalizeBy(name, () => notedHook(name, noted), signal);
  }

  /** The module is deleted completely: removes the finalizer. */
  async release({ name }: NamedModule, signal: AbortSignal): Promise<void> {
    await this.releaseAbandoned(name, signal);
  }

  /** The same for a module without a directory. */
  async releaseAbandoned(name: string, signal: AbortSignal): Promise<void> {
    await this.#deps.objects.release(name, signal);
    this.#held.delete(name);
    this.#finalized.delete(name);
    this.#skipped.delete(name);
  }

  /** Whether the object of a module waits for its server. */
  async isHeld(name: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#deps.objects.heldBy(name, signal)) !== undefined;
  }

  /**
   * Skips the webhook of a module, whose server is gone for good, unless the module runs again
   * before its deletion. A running call is aborted.
   */
  skip(name: string): void {
    this.#skipped.add(name);
    this.#calls.get(name)?.abort(new Error('The reconcile webhook is skipped'));
  }

  async #finalizeBy(
    name: string,
    hook: ReconcileWebhook | (() => ReconcileWebhook),
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#finalized.has(name)) return;
    const { log, onSkip } = this.#deps;
    if (await this.#hasAgreed(name, hook, signal)) {
      log.info({ module: name }, 'Reconcile webhook finalized the module');
    } else {
      log.warn(
        { module: name },
        'Module is deleted without its reconcile webhook, as requested with release-finalizer',
      );
      await onSkip(name, signal);
    }
    this.#finalized.add(name);
  }

  /** False when the webhook is skipped. */
  async #hasAgreed(
    name: string,
    hook: ReconcileWebhook | (() => ReconcileWebhook),
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#skipped.has(name)) return false;
    const { hooks, deployed } = this.#deps;
    const call = new AbortController();
    this.#calls.set(name, call);
    const either = AbortSignal.any([signal, call.signal]);
    try {
      const children = await deployed(name, either);
      await hooks.finalize(name, typeof hook === 'function' ? hook() : hook, children, either);
      // The definition is parsed here, so that a broken one can be skipped too.
      return true;
    } catch (error) {
      // An abort of the attempt is an error; an abort by `skip` means that the agreement is not
      // needed.
      if (signal.aborted || !call.signal.aborted) throw error;
      return false;
    } finally {
      this.#calls.delete(name);
    }
  }
}

function isFinalizer(hook: ReconcileWebhook | undefined): hook is ReconcileWebhook {
  return hook?.capabilities.includes('finalize') === true;
}

function notedHook(module: string, noted: string): ReconcileWebhook {
  const problems: string[] = [];
  const hook = readReconcileWebhook(parsed(noted), problems);
  if (hook !== undefined) return hook;
  throw new OperatorError(
    'MODULE_INVALID',
    `Module '${module}' must be finalized by a reconcile webhook, but its Module object does not name one: release it with "addon-operator module release-finalizer ${module}"`,
    { cause: problems.join('; '), isPermanent: true },
  );
}

function parsed(content: string): unknown {
  try {
    return parseJson(content);
  } catch {
    return undefined;
  }
}
