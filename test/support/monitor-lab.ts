import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import {
  createMonitor,
  type JqCompiler,
  type Monitor,
  type MonitorDeps,
} from '../../src/events/kubernetes/monitor.ts';
import type { KubernetesBindingSpec, SnapshotItem } from '../../src/hook-config/kubernetes-binding.ts';
import { CONFIG_MAPS } from './fake-kube-api.ts';
import { ReflectorLab } from './reflector-lab.ts';

/**
 * How the filters of a lab behave: `strict` ones fail on an object whose data has a key `bad`, `lenient` ones never,
 * `unavailable` ones have no process.
 */
export type FilterMode = 'strict' | 'lenient' | 'failing' | 'timing-out' | 'unavailable';

const TIME_LIMIT_MS = 2_000;

/** Monitors of ConfigMaps on a server in memory. */
export class MonitorLab extends ReflectorLab {
  /** `Added a/one`, in the order of emission, across all monitors. */
  readonly events: string[] = [];
  readonly items: SnapshotItem[] = [];
  filterMode: FilterMode = 'strict';

  /** Knows `.data.x`, `empty` and `1,2`. */
  readonly #fewPrograms: JqCompiler = {
    compile: (program) =>
      Promise.resolve({
        apply: async (input, signal) => {
          await Promise.resolve();
          const data = isObject(input) && isObject(input['data']) ? input['data'] : {};
          await this.#fail('bad' in data, signal);
          if (program === 'empty') return [];
          return program === '1,2' ? [1, 2] : [data['x']];
        },
      }),
  };

  async #fail(isBad: boolean, signal: AbortSignal): Promise<void> {
    if (this.filterMode === 'timing-out') {
      await this.clock.sleep(TIME_LIMIT_MS, signal);
      throw new OperatorError('JQ_TIMEOUT', 'jq took longer than 2000 ms for one object');
    }
    if (this.filterMode === 'unavailable')
      throw new OperatorError('JQ_UNAVAILABLE', 'The jq process cannot be started: EAGAIN');
    if (this.filterMode === 'failing' || (isBad && this.filterMode === 'strict'))
      throw new OperatorError('JQ_RUNTIME', 'Cannot index number');
  }

  monitor(spec: Partial<KubernetesBindingSpec> = {}, deps: Partial<MonitorDeps> = {}): Monitor {
    return createMonitor(
      {
        name: 'configs',
        kind: 'ConfigMap',
        keepFullObjects: true,
        executeOnEvents: ['Added', 'Modified', 'Deleted'],
        ...spec,
      },
      {
        find: async () => CONFIG_MAPS,
        jq: this.#fewPrograms,
        clock: this.clock,
        random: () => 0,
        log: silentLogger,
        reflectors: this.reflectors,
        onEvent: ({ watchEvent, item }) => {
          this.events.push(`${watchEvent} ${titleOf(item)}`);
          this.items.push(item);
        },
        ...deps,
      },
    );
  }

  /** A monitor that has its snapshot. */
  async started(
    spec: Partial<KubernetesBindingSpec> = {},
    deps: Partial<MonitorDeps> = {},
  ): Promise<Monitor> {
    const monitor = this.monitor(spec, deps);
    await monitor.start(this.stop.signal);
    this.stop.signal.addEventListener('abort', () => void monitor.stop());
    return monitor;
  }
}

/** `namespace/name`, or what there is instead of an object. */
export function titleOf(item: SnapshotItem): string {
  return item.object === undefined ? JSON.stringify(item) : keyText(item.object);
}

function keyText({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
