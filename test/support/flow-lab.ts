import type { FlowHookInput, FlowHookType, HookResult } from '@addon-operator/sdk';
import { FLOW_HOOK_TYPES, FlowHooks } from '@addon-operator/sdk/host';
import { silentHookLog } from './flow-hooks.ts';
import { name, type OperatorLab, operatorLab } from './operator-lab.ts';

type Responses = Partial<Record<FlowHookType, (input: FlowHookInput) => HookResult | undefined>>;
type LabOptions = NonNullable<Parameters<typeof operatorLab>[2]>;

const NONE: Responses = {};

/** A lab in whose reconciles a hook writes down where it is called, and answers what a test wants. */
export async function flowLab(
  modules: Parameters<typeof operatorLab>[0] = ['web'],
  hooks: Record<string, object> = {},
  labOptions: LabOptions = {},
): Promise<{ readonly lab: OperatorLab; readonly said: string[]; responses: Responses } & AsyncDisposable> {
  const said: string[] = [];
  const flow = new FlowHooks().registerHook(
    (input) => {
      const { type, module, error } = input;
      said.push(`${type} ${module?.name ?? '-'}${error === undefined ? '' : ` (${error})`}`);
      return made.responses[type]?.(input);
    },
    ...FLOW_HOOK_TYPES,
  );
  const options = {
    ...labOptions,
    flow: { hooks: flow.seal(), target: { namespace: 'ns' }, log: silentHookLog },
  };
  const lab = await operatorLab(modules, hooks, options);
  const made = { lab, said, responses: NONE, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() };
  return made;
}

/** Lets the module "web" be looked at again although nothing has changed. */
export async function recheck(lab: OperatorLab): Promise<void> {
  lab.operator.router.requeues.request(name('web'), 1);
  await lab.clock.advance(1);
  await lab.settle();
}

/** Has the module "web" brought to what has changed about it. */
export async function changed(lab: OperatorLab): Promise<void> {
  lab.operator.router.queueModuleRun(name('web'), 'test');
  await lab.settle();
}

/** Has the module disabled, as the next discovery finds it. */
export async function disable(lab: OperatorLab, module: string): Promise<void> {
  lab.enabled.delete(module);
  lab.operator.router.restartConverge('ReloadAllModules', 'test');
  await lab.settle();
}
