import type { Logger } from '@addon-operator/base/log';
import type { HookRunContents } from '@addon-operator/sdk/host';
import { isBesideQueues, isPartOfDeletion } from '../hook-config/binding-kinds.ts';
import { buildBindingContexts, buildBindingContextsV0 } from '../hooks/binding-context.ts';
import {
  type ContextLimits,
  type NumberedContext,
  type WrittenContexts,
  writeContexts,
} from '../hooks/context-document.ts';
import { type Hook, valuesOwnerOf } from '../hooks/hook.ts';
import { roomForContexts } from '../hooks/http/http-hooks.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { HookRun } from '../model/tasks.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { ValuesStore } from '../values/values-store.ts';
import { visibleToGlobalHook, visibleToModule } from '../values/visible-values.ts';
import { CanonicalTexts } from './canonical-texts.ts';

// Runs for these reasons are started by a client or a deployment, not by a queue of the hook.
/** Sections and their direct members: they are composed again for each run. */
const VALUES_LEVELS = 2;

export interface HookInputsOptions {
  readonly values: ValuesStore;
  readonly metrics: Pick<OperatorMetrics, 'missingMonitor'>;
  readonly enabledModules: () => readonly ModuleName[];
  /** The size limit of one run's contexts; further contexts go into the next run. */
  readonly maxContextBytes: number;
}

/** The input documents of a hook: values and binding contexts. */
interface HookInputs extends WrittenContexts, Pick<HookRunContents, 'values' | 'configValues'> {}

/**
 * Writes the input documents of hook runs. A values document is serialized once and reused while it
 * is unchanged.
 */
export class HookInputWriter {
  readonly #options: HookInputsOptions;
  readonly #texts = new CanonicalTexts();

  constructor(options: HookInputsOptions) {
    this.#options = options;
  }

  async write(run: HookRun, hook: Hook, log: Logger): Promise<HookInputs> {
    const contexts = this.#bindingContexts(run, log);
    const values = this.#values(run);
    return { ...values, ...(await writeContexts(contexts, this.#limitsOf(hook, values))) };
  }

  #limitsOf(hook: Hook, values: Pick<HookRunContents, 'values' | 'configValues'>): ContextLimits {
    const room = hook.transport === 'http' ? roomForContexts(values) : Number.POSITIVE_INFINITY;
    // A v0 hook gets one context per run.
    const maxContexts = hook.config.version === 'v0' ? 1 : Number.MAX_SAFE_INTEGER;
    return { maxBytes: Math.min(this.#options.maxContextBytes, room), maxContexts };
  }

  #values(run: HookRun): Pick<HookRunContents, 'values' | 'configValues'> {
    const visible = this.#visibleValues(run);
    const owner = valuesOwnerOf(run.hook.hook);
    return {
      values: this.#texts.of(`values ${owner}`, visible.values, VALUES_LEVELS),
      configValues: this.#texts.of(`config values ${owner}`, visible.configValues, VALUES_LEVELS),
    };
  }

  #bindingContexts({ hook: runtime, reasons }: HookRun, log: Logger): Iterable<NumberedContext> {
    const { version, kubernetes } = runtime.hook.config;
    if (version === 'v0') return buildBindingContextsV0(reasons);
    // A snapshot drops the older events it includes: only runs that come in order with them may do
    // that.
    const isBeside = isBesideQueues(reasons);
    return buildBindingContexts(reasons, kubernetes, (index) => {
      if (!runtime.isMonitored(index)) {
        const binding = kubernetes[index]?.name ?? '';
        this.#options.metrics.missingMonitor(binding);
        log.warn({ snapshot: binding }, 'snapshot of a binding that is not watched yet is empty');
      }
      return isBeside ? runtime.peek(index) : runtime.snapshot(index);
    });
  }

  #visibleValues(run: HookRun) {
    const { values, enabledModules } = this.#options;
    const { owner } = run.hook.hook;
    // A module must be deletable after its Secrets are gone.
    return owner.type === 'global'
      ? visibleToGlobalHook(values)
      : visibleToModule(
          values,
          owner.module,
          enabledModules(),
          isPartOfDeletion(run.binding) ? 'optional' : 'required',
        );
  }
}

/** Whether a client or a deployment waits for the run, so that it is in no queue of its hook. */
