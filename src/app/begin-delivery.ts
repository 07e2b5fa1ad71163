/** Wiring: delivery in a daemon, from the rooms that it uses, and what commands ask it. */

import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { untilAvailable } from '@addon-operator/kube-client/retry';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { Delivery } from '../delivery/delivery.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ContentStore } from '../module-store/content-store.ts';
import type { DeliveryRollback } from '../requests/rollback-module.ts';
import type { Settings } from '../settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { artifactTools, registryConnector } from './artifact-tools.ts';
import type { DaemonHost } from './host.ts';
import type { BaseParts } from './infrastructure.ts';
import type { OperatorForDelivery } from './operator-for-delivery.ts';
import { type DeliveryOptions, type StartedDelivery, startDelivery } from './start-delivery.ts';

export interface BeginDeliveryParts {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: Pick<BaseParts, 'cluster' | 'reflectors'>;
  readonly store: ContentStore | undefined;
  readonly objects: Pick<ModuleObjects, 'record'> | undefined;
  readonly metrics: OperatorMetrics;
  readonly redactor: Redactor;
  readonly delivering: OperatorForDelivery;
}

/**
 * Brings the modules of sources in place, waiting for an API server that is away. Undefined without a
 * module store.
 *
 * @throws OperatorError CONFIG_INVALID for sources without a store; SOURCE_INVALID, STORE_FAILED
 */
export async function beginDelivery(
  { settings, host, base, store, objects, metrics, redactor, delivering }: BeginDeliveryParts,
  stop: AbortSignal,
): Promise<StartedDelivery | undefined> {
  if (store === undefined && settings.moduleSourcesFile !== '')
    throw new OperatorError(
      'CONFIG_INVALID',
      '--module-sources needs a directory for the modules: set --module-store (ADDON_OPERATOR_MODULE_STORE)',
    );
  if (store === undefined) return undefined;
  const common = { settings, host, kube: base.cluster.main, store, metrics, redactor, delivering };
  // An Event is a courtesy: the log has the same.
  const record: DeliveryOptions['record'] = (module, event) =>
    void objects?.record(module, event, stop).catch(() => undefined);
  const options = { ...deliveryOptions(common, record), reflectors: base.reflectors };
  return await untilAvailable('state of delivered modules', () => startDelivery(options, stop), host, stop);
}

/** The options of delivery, with the registries of the host. */
export function deliveryOptions(
  {
    delivering,
    ...common
  }: Pick<DeliveryOptions, 'kube' | 'metrics' | 'redactor' | 'settings' | 'store'> & {
    readonly host: DaemonHost;
    readonly delivering: OperatorForDelivery;
  },
  record: DeliveryOptions['record'],
): Omit<DeliveryOptions, 'reflectors'> {
  const { modules, operator } = delivering;
  const { clock } = common.host;
  const connect = registryConnector(common.host);
  return { ...common, modules, operator, artifacts: artifactTools(clock), connect, record };
}

/** The rollback of modules that come from a source, for the command of all modules. */
export function deliveryRollback(delivery: Pick<Delivery, 'history' | 'rollback'>): DeliveryRollback {
  return async (module, order, signal) => {
    if (delivery.history(module) === undefined) return undefined;
    try {
      const outcome = await delivery.rollback(module, order, signal);
      return outcome.type === 'refused' ? { type: 'refused', reason: outcome.message } : outcome;
    } catch (error) {
      if (hasCode(error, 'REQUEST_REFUSED')) return { type: 'refused', reason: error.message };
      throw error;
    }
  };
}
