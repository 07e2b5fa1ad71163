import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { Delivery } from '../delivery/delivery.ts';
import type { InstallView, SourceView } from '../delivery/delivery-view.ts';
import type { InstalledVersion } from '../delivery/install-state.ts';
import type { PendingUpdates } from '../model/pending-updates.ts';
import type {
  DeliveredModule,
  DeliveredVersion,
  DeliveryState,
  ModuleDelivery,
  SourceState,
} from '../status/module-delivery.ts';
import { type ModuleUpdate, moduleUpdate } from '../status/module-update.ts';
import type { ModuleName } from '../values/module-key.ts';

/** Where versions that do not run yet are known. */
export interface UpdateSources {
  readonly updates: Pick<PendingUpdates, 'of'>;
  /** Modules that come from sources; absent without a module store. */
  readonly delivery?: Pick<Delivery, 'updateOf' | 'view'> | undefined;
}

/** The version of a module that does not run yet; empty without any. */
export function updateOf(
  { updates, delivery }: UpdateSources,
  name: ModuleName | string,
): { readonly update?: ModuleUpdate } {
  // Delivery knows what is wanted now: a version that the switch refused may not be wanted any more.
  const delivered = delivery?.updateOf(name);
  const pending = delivered === undefined ? updates.of(name as ModuleName) : delivered.pending;
  if (pending === undefined) return {};
  const {
    version = null,
    digest = null,
    reason,
    message,
    sinceMs,
    untilMs,
  } = { untilMs: undefined, ...pending };
  const update = {
    version,
    digest,
    reason,
    message,
    since: isoTime(sinceMs),
    ...(untilMs !== undefined && { until: isoTime(untilMs) }),
    ...(delivered?.isFirst === true && { isFirst: true as const }),
  };
  return { update: moduleUpdate(name, update) };
}

/** The versions from the source of a module; empty for a module of a plain directory. */
export function deliveryOf(
  { delivery }: UpdateSources,
  name: ModuleName,
): { readonly delivery?: ModuleDelivery } {
  if (delivery?.updateOf(name) === undefined) return {};
  const install = delivery.view().installs.find((one) => one.name === name);
  return install === undefined ? {} : { delivery: moduleDelivery(install) };
}

/** All sources, and all modules that come from them. */
export function deliveryState(sources: UpdateSources): DeliveryState {
  const view = sources.delivery?.view() ?? { sources: [], installs: [] };
  return {
    sources: view.sources.map(sourceState),
    modules: view.installs.map(
      (install): DeliveredModule => ({
        module: install.name,
        ...moduleDelivery(install),
        update: updateOf(sources, install.name).update ?? null,
      }),
    ),
  };
}

function sourceState({ name, url, invalid, problem, ...source }: SourceView): SourceState {
  return {
    name,
    url: url ?? null,
    invalid: invalid ?? null,
    problem: problem ?? null,
    lastSuccessAt: timeOrNull(source.lastSuccessMs),
    lastAttemptAt: timeOrNull(source.lastAttemptMs),
    modules: source.modules,
  };
}

function moduleDelivery(install: InstallView): ModuleDelivery {
  const { source, installed, lastGood, wanted, failed, isUpdating, waitsFor } = install;
  return {
    source: source ?? null,
    installed: installed === undefined ? null : delivered(installed),
    lastGood: lastGood === undefined ? null : delivered(lastGood),
    wanted: wanted === undefined ? null : { version: wanted.version ?? null, digest: wanted.digest ?? null },
    failed: failed.map((version) => ({ ...delivered(version), why: version.why })),
    isUpdating,
    waitsFor: waitsFor ?? null,
    invalid: install.invalid ?? null,
    missing: install.missing ?? null,
    problem: install.problem ?? null,
    sourceProblem: install.sourceProblem ?? null,
  };
}

function delivered({ version, digest, atMs }: InstalledVersion): DeliveredVersion {
  return { version, digest, at: isoTime(atMs) };
}

function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : isoTime(atMs);
}
