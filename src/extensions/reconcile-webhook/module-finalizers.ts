import { OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { canonicalJson, parseJson } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { Module } from '../../modules/module.ts';
import { type ReconcileWebhook, readReconcileWebhook } from '../../modules/reconcile-webhook.ts';
import type { WebhookSteps } from './webhook-steps.ts';

/** Modules in the cluster, as something that can be kept from going. */
interface HeldModules {
  /** What the watch knows of that; undefined before it has read what there is. Costs no request. */
  isKnownAsHeld(module: string): boolean | undefined;
  /** Keeps the object until `release`, and notes this text on it. */
  hold(module: string, definition: string, signal: AbortSignal): Promise<void>;
  /** The text that was noted; undefined for an object that is not held. */
  heldBy(module: string, signal: AbortSignal): Promise<string | undefined>;
  release(module: string, signal: AbortSignal): Promise<void>;
}

interface ModuleFinalizersDeps {
  readonly hooks: Pick<WebhookSteps, 'finalize'>;
  readonly objects: HeldModules;
  /** What a release consists of now; nothing without one. */
  readonly deployed: (release: string, signal: AbortSignal) => Promise<readonly KubeObject[]>;
  readonly log: Logger;
  /** The module is deleted although its webhook was not called. */
  readonly onSkip: (module: string, signal: AbortSignal) => Promise<void>;
}

type NamedModule = Pick<Module, 'name' | 'manifest'>;

/** Ensures that nothing of a module is deleted before its reconcile webhook has agreed. */
export class ModuleFinalizers {
  readonly #deps: ModuleFinalizersDeps;
  /** Their servers have agreed, but they are not gone yet. */
  readonly #finalized = new Set<string>();
  /** Their webhooks are not called any more. */
  readonly #skipped = new Set<string>();
  /** Calls of webhooks under way; an abort ends them. */
  readonly #calls = new Map<string, AbortController>();
  /** Objects that were held here; the watch learns of that later. */
  readonly #held = new Set<string>();

  constructor(deps: ModuleFinalizersDeps) {
    this.#deps = deps;
  }

  /** Before anything of a module is deployed: from now on its webhook has to be called before the module is deleted. */
  async hold({ name, manifest: { hook } }: NamedModule, signal: AbortSignal): Promise<void> {
    this.#finalized.delete(name);
    this.#skipped.delete(name);
    const { objects } = this.#deps;
    if (isFinalizer(hook)) {
      this.#held.add(name);
      await objects.hold(name, canonicalJson(hook.definition), signal);
      return;
    }
    // The first runs after a start precede the first list of the watch: then the API server is queried.
    const isHeld = this.#held.has(name) || (objects.isKnownAsHeld(name) ?? (await this.isHeld(name, signal)));
    if (isHeld) await objects.release(name, signal);
    this.#held.delete(name);
  }

  /**
   * Before anything of a module is deleted. Once the webhook has agreed it is not called again, unless the operator is started
   * anew.
   *
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT: the module must stay for now
   */
  async finalize({ name, manifest }: NamedModule, signal: AbortSignal): Promise<void> {
    if (isFinalizer(manifest.hook)) await this.#finalizeBy(name, manifest.hook, signal);
    // A deletion cannot be taken back, so what the watch knows does not suffice.
    else await this.finalizeAbandoned(name, signal);
  }

  /**
   * The same for a module that has no directory any more, by what is noted on its object.
   *
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT; MODULE_INVALID when the note cannot be read
   */
  async finalizeAbandoned(name: string, signal: AbortSignal): Promise<void> {
    const noted = await this.#deps.objects.heldBy(name, signal);
    if (noted !== undefined) await this.#finalizeBy(name, () => notedHook(name, noted), signal);
  }

  /** Nothing is left of a module: its object may go. */
  async release({ name }: NamedModule, signal: AbortSignal): Promise<void> {
    await this.releaseAbandoned(name, signal);
  }

  /** The same for a module that has no directory any more. */
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
   * The server of a module is gone for good: the module is deleted without it, unless it is run again before. A response
   * that is being waited for is not needed any more.
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

  /** False when the webhook is not to be called any more. */
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
      return true;
    } catch (error) {
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

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
