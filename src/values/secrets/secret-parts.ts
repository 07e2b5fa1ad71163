/**
 * Connects references in values with the watcher of Secrets. `follow` is called before a new content of the ConfigMap is
 * taken over, with that content, so that its Secrets are read before hooks and helm need them.
 */

import type { Clock } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { ConfigMapSettings, InstanceSettings } from '../../settings/config-map-settings.ts';
import type { ConfigMapContent } from '../config-map-content.ts';
import type { ValuesSecrets, ValuesStore } from '../values-store.ts';
import type { SecretReference } from './secret-reference.ts';
import { SecretWatcher } from './secret-watcher.ts';

/** Means all sections in `--secret-references`. */
const ALL_SECTIONS = '*';

/** References to Secrets, followed for as long as values hold them. */
interface SecretParts {
  readonly values: ValuesSecrets;
  /** Follows what values refer to now, and would refer to with this content of the ConfigMap. */
  readonly follow: (store: ValuesStore, content: ConfigMapContent) => Promise<void>;
  /** Calls the listener from now on when followed references lead to something else. */
  readonly onChange: (listener: SecretsListener) => void;
}

type SecretsListener = (references: readonly SecretReference[]) => void;

type SecretSettings = Pick<ConfigMapSettings, 'secretReferences'>;

interface SecretPartsOptions {
  readonly settings: SecretSettings & Pick<InstanceSettings, 'namespace'>;
  readonly host: { readonly clock: Clock; readonly random: () => number; readonly log: Logger };
  readonly reflectors: SharedReflectors;
  readonly redactor: Redactor;
  readonly stop: AbortSignal;
  /** Resources that must be closed are added here. */
  readonly running: AsyncDisposableStack;
}

/** Whether references count in the values of `global`, or of a module. */
export function isResolvedFor({ secretReferences }: SecretSettings, owner: string): boolean {
  return secretReferences.includes(ALL_SECTIONS) || secretReferences.includes(owner);
}

export function createSecrets(options: SecretPartsOptions): SecretParts {
  const { settings, host, reflectors, redactor, stop, running } = options;
  const { namespace } = settings;
  const listeners = new Set<SecretsListener>();
  const end = new AbortController();
  running.defer(() => end.abort());
  const watcher = new SecretWatcher({
    reflectors,
    clock: host.clock,
    random: host.random,
    log: host.log,
    redactor,
    onChange: (references) => {
      for (const listener of listeners) listener(references);
    },
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
    onChange: (listener) => void listeners.add(listener),
  };
}
