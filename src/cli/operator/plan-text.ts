import type { DiffLine } from '../../plan/line-diff.ts';
import type { ModulePlan, Plan, PlannedAction, PlannedHook } from '../../plan/plan.ts';
import type { Paint, Style } from '../output/paint.ts';

const ACTIONS: Readonly<
  Record<PlannedAction, { readonly sign: string; readonly word: string; readonly style: Style }>
> = {
  install: { sign: '+', word: 'install', style: 'green' },
  upgrade: { sign: '~', word: 'upgrade', style: 'yellow' },
  none: { sign: '=', word: 'no change', style: 'dim' },
  'apply-crds': { sign: '~', word: 'only its CRDs change', style: 'yellow' },
  delete: { sign: '-', word: 'delete', style: 'red' },
  orphan: { sign: '-', word: 'keep the release', style: 'yellow' },
  purge: { sign: '-', word: 'purge', style: 'red' },
  hold: { sign: ' ', word: 'stays until its purge is confirmed', style: 'yellow' },
  'stay-off': { sign: ' ', word: 'stays off', style: 'dim' },
  wait: { sign: ' ', word: 'waits for the end of its pause', style: 'yellow' },
  refuse: { sign: ' ', word: 'is not run', style: 'red' },
};

const CRD_CHANGES = { create: 'created', change: 'updated', delete: 'deleted' } as const;
const CHANGES = { create: 'created', change: 'changed', delete: 'deleted' } as const;

/** The plan for people: one block per module with what differs, and a summary at the end. */
export function planText(plan: Plan, paint: Paint): string {
  const lines = [
    ...plan.problems.map((problem) => paint('red', `! ${problem}`)),
    ...hookLines('Global hooks', plan.globalHooks, paint),
    ...plan.modules.flatMap((module) => moduleLines(module, paint)),
    summary(plan),
  ];
  return `${lines.join('\n')}\n`;
}

function moduleLines(module: ModulePlan, paint: Paint): string[] {
  const { sign, word, style } = ACTIONS[module.action];
  const title = `${sign} ${module.module}: ${module.error === undefined ? word : 'cannot be determined'}`;
  const lines = [
    `${paint(module.error === undefined ? style : 'red', title)}${module.reason === '' ? '' : paint('dim', `  (${module.reason})`)}`,
    ...hookLines('  hooks', module.hooks, paint),
  ];
  if (module.error !== undefined)
    lines.push(...module.error.split('\n').map((line) => paint('red', `  ! ${line}`)));
  if (module.causes.length > 0) lines.push(paint('yellow', `  because ${module.causes.join(', and ')}`));
  for (const { change, object, lines: diff } of module.crds) {
    lines.push(`  CRD ${paint('bold', object)} would be ${CRD_CHANGES[change]}`);
    lines.push(...diff.map((line) => diffLine(line, paint)));
  }
  if (module.mayDifferBy.length > 0) {
    lines.push(
      paint(
        'dim',
        `the following may differ: ${module.mayDifferBy.join(', ')} may change values before helm runs`,
      ),
    );
  }
  if (module.asksHttpHook === true)
    lines.push(
      paint('dim', 'the reconcile webhook of the module decides the following; a plan does not call it'),
    );
  for (const { change, object, lines: diff } of module.changes) {
    lines.push(`  ${paint('bold', object)} is ${CHANGES[change]}`);
    lines.push(...diff.map((line) => diffLine(line, paint)));
  }
  return [...lines, ''];
}

function hookLines(title: string, hooks: readonly PlannedHook[], paint: Paint): string[] {
  if (hooks.length === 0) return [];
  const rows = hooks.map(({ hook, when }) => `${hook} (${when.join(', ')})`);
  return [paint('dim', `${title}: ${rows.join('; ')}`)];
}

/** One line of a difference, for people. */
export function diffLine(line: DiffLine, paint: Paint): string {
  switch (line.type) {
    case 'same':
      return `      ${line.text}`;
    case 'removed':
      return paint('red', `    - ${line.text}`);
    case 'added':
      return paint('green', `    + ${line.text}`);
    case 'gap':
      return paint('dim', `      … ${line.lines} equal ${line.lines === 1 ? 'line' : 'lines'}`);
  }
}

function summary({ modules }: Plan): string {
  const count = (...actions: readonly PlannedAction[]): number =>
    modules.filter(({ action, error }) => error === undefined && actions.includes(action)).length;
  const failed = modules.filter(({ error }) => error !== undefined).length;
  const parts = [
    `${count('install')} to install`,
    `${count('upgrade')} to upgrade`,
    `${count('delete', 'purge')} to delete`,
    `${count('none', 'hold', 'stay-off', 'wait', 'refuse')} without a change`,
  ];
  if (count('apply-crds') > 0) parts.push(`${count('apply-crds')} with changed CRDs only`);
  if (count('orphan') > 0) parts.push(`${count('orphan')} to keep without their module`);
  if (failed > 0) parts.push(`${failed} that cannot be determined`);
  return `Modules: ${parts.join(', ')}.`;
}
