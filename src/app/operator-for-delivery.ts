/**
 * Wiring: the operator as delivery sees it. Delivery brings content in place before modules are read, so it exists before
 * the operator, and asks it nothing until `show` was called.
 */

import { OperatorError } from '@addon-operator/base/errors';
import type { LookupOptions } from '@addon-operator/helm/object-lookup';
import { stringifyJson } from '@addon-operator/json';
import type { DeliveryParts } from '../delivery/delivery-parts.ts';
import { GateObserver } from '../delivery/observe-gates.ts';
import { whyReleaseNotReady } from '../releases/release-readiness.ts';
import type { ModuleSummary } from '../status/module-explanation.ts';
import { summarizeModules } from '../views/explain-module.ts';
import type { BuiltOperator } from './build-options.ts';
import type { Cluster } from './connect-cluster.ts';
import type { DaemonHost } from './host.ts';

/** Sources of decisions of users and modules. All others keep a module from running that is wanted. */
const FLAGS: ReadonlySet<string> = new Set([
  'default',
  'common-values',
  'module-values',
  'global-hook',
  'config-map',
  'enabled-script',
]);

export interface OperatorForDelivery {
  readonly operator: DeliveryParts['operator'];
  readonly modules: DeliveryParts['modules'];
  /** From now on the operator answers. */
  show(built: BuiltOperator): void;
}

export function operatorForDelivery(
  { clock, version }: Pick<DaemonHost, 'clock' | 'version'>,
  { main: kube, discovery }: Pick<Cluster, 'main' | 'discovery'>,
  namespace: string,
): OperatorForDelivery {
  let shown: BuiltOperator | undefined;
  const built = (): BuiltOperator => {
    if (shown === undefined)
      throw new OperatorError('INTERNAL', 'delivery runs before the operator is built');
    return shown;
  };
  const switching = (): DeliveryParts['modules'] => {
    const { switching } = built().modules;
    if (switching === undefined) throw new OperatorError('INTERNAL', 'there is no module store');
    return switching;
  };
  // A status of all modules is written in one go, in which nothing changes.
  let summaries: ReadonlyMap<string, ModuleSummary> | undefined;
  const summaryOf = (module: string): ModuleSummary | undefined => {
    if (summaries === undefined) {
      summaries = new Map(summarizeModules(built().explained).map((each) => [each.module, each]));
      queueMicrotask(() => (summaries = undefined));
    }
    return summaries.get(module);
  };
  const whyNotReady = (module: string): string | undefined => {
    const summary = summaryOf(module);
    if (summary === undefined) return 'the operator does not know it yet';
    const { status, heldUpBy, lastError, waitsFor, reason } = summary;
    return status === 'ready' ? undefined : `${status}: ${heldUpBy ?? lastError ?? waitsFor[0] ?? reason}`;
  };
  const whyDisabled = (module: string): string | undefined => {
    const summary = summaryOf(module);
    if (summary?.status !== 'disabled' || !FLAGS.has(summary.source ?? '')) return undefined;
    return summary.reason;
  };
  const lookup: LookupOptions = { kube, namespace, find: (...wanted) => discovery.find(...wanted) };
  const gates = new GateObserver({
    clock,
    whyNotReady: async (module, signal) =>
      whyNotReady(module) ?? (await whyReleaseNotReady(module, built().modules.helm, lookup, signal)),
  });
  return {
    operator: {
      version,
      modules: () => {
        const { registry } = built().model;
        const enabled = registry.modules.filter(({ name }) => registry.isEnabled(name));
        return new Map(enabled.map((module) => [module.name, module.version]));
      },
      whyNotReady,
      whyDisabled,
      section: (module) => {
        const found = built().model.registry.find(module);
        const section = found && built().configuration.values.configValues(found.name);
        return section && stringifyJson(section);
      },
      gate: (gate, module, sinceMs, signal) => gates.observe(gate, module, sinceMs, signal),
    },
    modules: {
      switch: (request, signal) => switching().switch(request, signal),
      remove: (entry, signal) => switching().remove(entry, signal),
    },
    show: (operator) => {
      shown = operator;
    },
  };
}
