import { hasCode, messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { KubeApiError } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { Module } from '../../modules/module.ts';
import type { ReconcileWebhook, WebhookCapability } from '../../modules/reconcile-webhook.ts';
import type { ReleaseSteps } from '../../releases/release-steps.ts';
import { type CallDeps, callWebhook } from './call-webhook.ts';
import type { ChildPlaces } from './child-places.ts';
import { requestBody } from './request-body.ts';
import { readResponse, type WebhookResponse } from './webhook-response.ts';

/** Module objects, as reconcile webhooks receive them. */
interface SeenModules {
  /** Includes the status. */
  read(module: string, signal: AbortSignal): Promise<KubeObject>;
  /** Applies the status that a server returned for the object of `read`. */
  report(sent: KubeObject, status: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<void>;
  /** Reports to users that a server failed, and that its module continued without it. */
  warn(module: string, message: string, signal: AbortSignal): Promise<void>;
}

interface WebhookStepsDeps extends CallDeps {
  readonly modules: SeenModules;
  /** Checks which objects a server may add. */
  readonly places: Pick<ChildPlaces, 'check'>;
  readonly log: Logger;
}

type Success = Extract<WebhookResponse, { readonly type: 'success' }>;

interface WebhookCall {
  readonly module: string;
  readonly hook: ReconcileWebhook;
  readonly phase: WebhookCapability;
  readonly children: readonly KubeObject[];
}

const NOTHING = async (): Promise<void> => undefined;

/**
 * Calls the reconcile webhooks of modules (`hook` in `module.yaml`): `pre-reconcile` in each
 * deployment, where the server may replace the rendered objects and the status, and `finalize`
 * before a deletion, which waits for its agreement. A failing server fails the attempt, unless its
 * response says `continue: true`.
 */
export class WebhookSteps {
  readonly #deps: WebhookStepsDeps;

  constructor(deps: WebhookStepsDeps) {
    this.#deps = deps;
  }

  /**
   * The steps of a module's reconcile webhook in a deployment; undefined without one for
   * `pre-reconcile`.
   */
  stepsOf({ name, manifest: { hook } }: Pick<Module, 'name' | 'manifest'>): ReleaseSteps | undefined {
    if (hook?.capabilities.includes('pre-reconcile') !== true) return undefined;
    let isChanged = false;
    return {
      // The response may differ each time, so no digest can show that nothing has changed.
      digest: '',
      isOpen: true,
      transform: async (objects, signal) => {
        const children = await this.#preReconcile(name, hook, objects, signal);
        isChanged = children !== objects;
        return children;
      },
      beforeApply: NOTHING,
      afterApply: NOTHING,
      onFailure: async (error) => {
        // Only objects of the server make its response a possible cause of the failure.
        if (!isChanged) return error;
        const hint = `The objects come from the response of the ${titleOf(name, 'pre-reconcile')}.`;
        return new OperatorError(error.code, `${error.message}\n${hint}`, { cause: error });
      },
    };
  }

  /**
   * Calls the webhook of a module without a chart, whose response must not contain objects.
   *
   * @throws OperatorError as {@link stepsOf}, and when the server returns objects
   */
  async preReconcileWithoutChart({ name, manifest: { hook } }: Module, signal: AbortSignal): Promise<void> {
    if (hook?.capabilities.includes('pre-reconcile') !== true) return;
    const children = await this.#preReconcile(name, hook, [], signal);
    if (children.length > 0)
      throw new OperatorError(
        'HOOK_OUTPUT_INVALID',
        `${titleOf(name, 'pre-reconcile')}: its response has children, but a module without a chart has no release to add them to`,
      );
  }

  /**
   * Requests the webhook's agreement to delete the module.
   *
   * @param children the deployed objects
   * @throws OperatorError HOOK_FAILED, HOOK_TIMEOUT; the module must not be deleted yet
   */
  async finalize(
    module: string,
    hook: ReconcileWebhook,
    children: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#call({ module, hook, phase: 'finalize', children }, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof OperatorError)) throw error;
      const hint = `(nothing is deleted until it agrees; if the server no longer exists, run: addon-operator module release-finalizer ${module})`;
      throw new OperatorError(error.code, `${error.message}\n${hint}`, { cause: error });
    }
  }

  async #preReconcile(
    module: string,
    hook: ReconcileWebhook,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<readonly KubeObject[]> {
    const called = await this.#call({ module, hook, phase: 'pre-reconcile', children: objects }, signal);
    if (called === undefined) return objects;
    const { sent, response, from } = called;
    // Checked before the status is written: an invalid response must have no effect.
    if (response.children !== undefined)
      await this.#checkPlaces(module, objects, response.children, from, signal);
    if (response.status !== undefined) await this.#report(module, sent, response.status, from, signal);
    return response.children ?? objects;
  }

  /** Undefined when the webhook failed with `continue: true`. */
  async #call(
    { module, hook, phase, children }: WebhookCall,
    signal: AbortSignal,
  ): Promise<{ readonly sent: KubeObject; readonly response: Success; readonly from: string } | undefined> {
    const { log, modules, namespace } = this.#deps;
    const title = titleOf(module, phase);
    const sent = await modules.read(module, signal);
    // A server has no use for managed fields.
    const body = requestBody({ phase, object: withoutManagedFields(sent), children });
    const { response: raw, from } = await callWebhook(
      this.#deps,
      hook,
      { title, body, ignoresBody: phase === 'finalize' },
      signal,
    );
    log.debug(
      { module, phase, status: raw.status, responseBytes: raw.body.length },
      'reconcile webhook responded',
    );
    const response = understood(() => readResponse(raw, { phase, object: sent, namespace }), title, from);
    if (response.type === 'success') return { sent, response, from };
    const { message, isPermanent, isContinued } = response;
    if (!isContinued)
      throw new OperatorError('HOOK_FAILED', `${title} failed: POST ${from}: ${message}`, {
        isPermanent,
        facts: { status: raw.status },
      });
    log.warn(
      { module, phase, error: message, code: 'HOOK_FAILED' },
      'reconcile webhook failed; the module continues without it',
    );
    await modules.warn(module, `${phase}: ${message}`, signal);
    return undefined;
  }

  async #checkPlaces(
    module: string,
    rendered: readonly KubeObject[],
    children: readonly KubeObject[],
    from: string,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#deps.places.check(module, rendered, children, signal);
    } catch (cause) {
      if (!hasCode(cause, 'HOOK_OUTPUT_INVALID')) throw cause;
      throw new OperatorError(
        'HOOK_OUTPUT_INVALID',
        `${titleOf(module, 'pre-reconcile')}, POST ${from}: ${messageOf(cause)}`,
        { cause },
      );
    }
  }

  async #report(
    module: string,
    sent: KubeObject,
    status: Readonly<Record<string, unknown>>,
    from: string,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await this.#deps.modules.report(sent, status, signal);
    } catch (cause) {
      if (!(cause instanceof KubeApiError)) throw cause;
      throw new OperatorError(
        'HOOK_OUTPUT_INVALID',
        `${titleOf(module, 'pre-reconcile')}, POST ${from}: the status in its response cannot be written: ${messageOf(cause)}`,
        { cause },
      );
    }
  }
}

function titleOf(module: string, phase: WebhookCapability): string {
  return `reconcile webhook of module '${module}', ${phase}`;
}

function understood<T>(read: () => T, title: string, from: string): T {
  try {
    return read();
  } catch (cause) {
    throw new OperatorError('HOOK_OUTPUT_INVALID', `${title}, POST ${from}: ${messageOf(cause)}`, { cause });
  }
}

/** Managed fields are bookkeeping of the API server, not part of a module. */
function withoutManagedFields({ metadata, ...object }: KubeObject): KubeObject {
  const { managedFields: _accounts, ...rest } = metadata;
  return { ...object, metadata: { ...rest, name: metadata.name } };
}
