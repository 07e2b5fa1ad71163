import type { Span } from '@addon-operator/base/trace';
import { AppliedWatch } from '@addon-operator/helm/applied-watch';
import { desiredObjects } from '@addon-operator/helm/desired-objects';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import type { ReleaseStore } from '@addon-operator/helm/release-store';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { type DriverContext, lookupOptions } from '../driver-context.ts';
import type { DriftEvent, DriftMode, HealStreak } from './drift-policy.ts';
import { type DesiredRevision, type DriftOptions, DriftWatch } from './module-drift.ts';

export interface DriftSettings {
  /** The mode of modules without a wish of their own. */
  readonly mode: DriftMode;
  readonly reflectors: SharedReflectors;
  /** Parses one YAML document as helm does. */
  readonly readYaml: (text: string) => unknown;
  /** Whether a module is paused or unmanaged, so that nothing is corrected. */
  readonly isHeld: (module: string) => boolean;
  readonly onEvent: (event: DriftEvent) => void;
  /** Begins the event of comparisons for a module, for the trace of their consequences. */
  readonly onComparison: (module: string) => Span;
  /** A number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
}

interface DriftParts {
  readonly context: DriverContext;
  readonly settings: DriftSettings;
  readonly store: ReleaseStore;
  /** For comparisons and corrections. */
  readonly kube: KubeClient;
}

/**
 * Returns a function that starts the watch for drift of a module. All modules share one set of
 * watches; nothing is watched before the first call.
 */
export function driftStarter(parts: DriftParts): (options: DriftOptions) => DriftWatch {
  const { context, settings, store, kube } = parts;
  const { clock, log, extraLabels } = context;
  const { reflectors, isHeld, onEvent, onComparison, random } = settings;
  // Every object of a release carries these labels, so the watches need no others.
  const labelSelector = Object.entries(extraLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const deps = {
    clock,
    random,
    log,
    watch: new AppliedWatch({ reflectors, clock, random, log, labelSelector }),
    lookup: { ...lookupOptions(context), kube },
    load: (module: string, signal: AbortSignal) => load(parts, module, signal),
    revision: async (module: string, signal: AbortSignal) => {
      const latest = await store.latest(module, signal);
      if (latest === undefined) return 'gone';
      return latest.status === 'deployed' ? latest.revision : 'not-deployed';
    },
    isHeld,
    onEvent,
    onComparison,
    streaks: new Map<string, HealStreak>(),
  };
  return (options) => DriftWatch.start(deps, options);
}

async function load(
  { context, settings, store }: DriftParts,
  module: string,
  signal: AbortSignal,
): Promise<DesiredRevision | undefined> {
  const latest = await store.latest(module, signal);
  if (latest?.status !== 'deployed') return undefined;
  const { manifest } = await store.payload(latest, signal);
  const documents = parseManifest(manifest).map(({ text }) => text);
  const identity = { release: module, namespace: context.namespace };
  return { revision: latest.revision, ...desiredObjects(documents, settings.readYaml, identity) };
}
