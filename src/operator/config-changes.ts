import type { Module } from '../modules/module.ts';
import type { ConfigChange } from '../values/config-map-store.ts';
import type { Operator } from './operator.ts';
import type { Task } from './tasks.ts';

const APPLY: Task = { type: 'ApplyKubeConfigValues', trigger: 'Apply-Kube-Config-Values-Changes' };

/**
 * Turns a change of the ConfigMap into tasks: changed values are taken over first of all; changed global values or
 * flags start the converge over, a changed section runs its module.
 */
export function onConfigChange(operator: Operator, change: ConfigChange): void {
  const { log } = operator.deps;
  switch (change.type) {
    case 'invalid':
      log.error(
        { error: change.error },
        'KubeConfig become invalid: the last valid content stays in force until the ConfigMap is mended',
      );
      return;
    case 'valid':
      log.info({}, 'KubeConfig become valid');
      return;
    case 'changed':
      applyChange(operator, change);
  }
}

function applyChange(operator: Operator, change: Extract<ConfigChange, { type: 'changed' }>): void {
  const { difference } = change;
  const { main } = operator;
  const isReload = difference.isGlobalChanged || difference.flags.length > 0;
  if (operator.discovery === undefined) {
    // The converge to come reads the flags itself; only the values have to be there before it.
    main.prepend(APPLY);
  } else if (isReload) {
    operator.restartConverge('KubeConfigChanged', 'ReloadAll-After-KubeConfigChange');
    main.prepend(APPLY);
  } else {
    const keys = new Set([...difference.sections, ...difference.maintenance]);
    const runs = changedModules(operator, (module) => keys.has(module.key));
    main.prepend(APPLY, ...runs);
  }
  // What waits after a failure may have waited for just this change.
  main.cutDelay();
}

function changedModules(operator: Operator, isChanged: (module: Module) => boolean): readonly Task[] {
  const isPending = (module: Module): boolean =>
    operator.main.entries.some(
      ({ task }, index) => index > 0 && task.type === 'ModuleRun' && task.module === module.name,
    );
  return operator.modules
    .filter((module) => isChanged(module) && operator.isEnabled(module.name) && !isPending(module))
    .map((module) => operator.moduleRun(module.name, 'KubeConfig-Changed-Modules'));
}
