import type { SharedReflectors } from '../kube/reflector-sink.ts';
import { factsOf, isPermanent, messageOf, OperatorError, retryAfterOf } from '../lib/errors.ts';
import { redactedLog } from '../lib/redacted-log.ts';
import { Redactor } from '../lib/redactor.ts';
import type { TaskHandler } from '../queue/task-queue.ts';
import type { Settings } from '../settings.ts';
import type { ConfigMapContent } from '../values/config-map-content.ts';
import type { SecretReference } from '../values/secrets/secret-reference.ts';
import { SecretWatcher } from '../values/secrets/secret-watcher.ts';
import type { ValuesSecrets, ValuesStore } from '../values/values-store.ts';
import type { DaemonHost } from './host.ts';

/** The host with a log that shows nothing which the redactor is told of. */
export function withRedactedLog(host: DaemonHost): {
  readonly host: DaemonHost;
  readonly redactor: Redactor;
} {
  const redactor = new Redactor();
  return { redactor, host: { ...host, log: redactedLog(host.log, redactor) } };
}

/** Stands for all sections in `--secret-references`. */
const EVERYBODY = '*';

/** References to Secrets, followed for as long as values hold them. */
export interface SecretParts {
  readonly values: ValuesSecrets;
  /** Follows what values refer to now, and would refer to with this content of the ConfigMap. */
  readonly follow: (store: ValuesStore, content: ConfigMapContent) => Promise<void>;
}

export interface SecretPartsOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: { readonly reflectors: SharedReflectors };
  readonly redactor: Redactor;
  readonly stop: AbortSignal;
  /** What has to be ended is entered here. */
  readonly running: AsyncDisposableStack;
}

/** Whether references count in the values of `global`, or of a module. */
export function isResolvedFor({ secretReferences }: Settings, owner: string): boolean {
  return secretReferences.includes(EVERYBODY) || secretReferences.includes(owner);
}

export function createSecrets(
  { settings, host, base, redactor, stop, running }: SecretPartsOptions,
  onChange: (references: readonly SecretReference[]) => void,
): SecretParts {
  const { namespace } = settings;
  const end = new AbortController();
  running.defer(() => end.abort());
  const watcher = new SecretWatcher({
    reflectors: base.reflectors,
    clock: host.clock,
    random: host.random,
    log: host.log,
    onText: (text) => redactor.add(text),
    onChange,
    stop: AbortSignal.any([stop, end.signal]),
  });
  return {
    values: {
      namespace,
      lookup: (reference) => watcher.lookup(reference),
      isResolvedFor: (owner) => isResolvedFor(settings, owner),
    },
    follow: async (store, content) => {
      const now = [...store.secretReferences().values()].flat();
      const next = [...store.secretReferences(content).values()].flat();
      watcher.keepOnly([...now, ...next]);
      await watcher.follow([...now, ...next]);
    },
  };
}

/** A handler whose failures tell no secret: they are shown in queues, and on the terminal. */
export function withoutSecrets<T>(handle: TaskHandler<T>, redactor: Redactor): TaskHandler<T> {
  return async (entry, queue, signal) => {
    const outcome = await handle(entry, queue, signal);
    return outcome.type === 'retry' ? { ...outcome, error: redactedError(outcome.error, redactor) } : outcome;
  };
}

/** The error itself, unless its message tells a secret: then one that says and means the same without it. */
export function redactedError(error: unknown, redactor: Pick<Redactor, 'text'>): unknown {
  const message = messageOf(error);
  const redacted = redactor.text(message);
  if (redacted === message) return error;
  return new OperatorError(error instanceof OperatorError ? error.code : 'INTERNAL', redacted, {
    facts: factsOf(error),
    isPermanent: isPermanent(error),
    retryAfterMs: retryAfterOf(error),
  });
}
