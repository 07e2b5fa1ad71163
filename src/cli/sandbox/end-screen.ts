import { escapeControls } from '@addon-operator/strings/escape-controls';
import { shellWord } from '@addon-operator/strings/shell-word';
import { dumpYaml } from '@addon-operator/yaml';
import { textTable } from '../../status/module-explanation.ts';
import type { Paint } from '../output/paint.ts';
import type { EditSuggestion } from './edit-suggestion.ts';

/** The running parts, as the end screen shows them; all paths are absolute. */
export interface EndFacts {
  readonly modules: readonly {
    readonly name: string;
    /** Empty for a module without chart. */
    readonly chartVersion: string;
    /** Undefined for a module without release. */
    readonly revision: number | undefined;
    readonly hooks: readonly string[];
  }[];
  readonly disabled: readonly { readonly name: string; readonly reason: string }[];
  /** Enabled, and not authorized, or held for another reason. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
  readonly globalHooks: readonly string[];
  readonly globalHooksDir: string;
  /** Where new modules go; undefined if the settings name no directory. */
  readonly modulesDir: string | undefined;
  readonly elapsedMs: number;
  readonly metricsUrl: string;
  /** With its token; undefined if the page is off. */
  readonly pageAddress: string | undefined;
  readonly namespace: string;
  readonly configMap: string;
  readonly kubeconfig: string;
  /** Path of a kubectl that exists; undefined where there is none. */
  readonly kubectl: string | undefined;
  /** Path of the executable that this is. */
  readonly executable: string;
  readonly debugSocket: string;
  readonly jqEngine: string;
  readonly helmVersion: string;
  readonly log: string;
  readonly stateDir: string;
  /** One sentence about the operator. */
  readonly status: string;
  readonly edit: EditSuggestion | undefined;
}

/** The screen with the modules and hooks that run, and where to look at them. */
export function summaryScreen(facts: EndFacts, paint: Paint): string {
  const { modules, disabled, refused, globalHooks, elapsedMs } = facts;
  const seconds = (elapsedMs / 1_000).toFixed(1);
  const rows = [
    ['module', 'chart', 'revision', 'hooks'],
    ...modules.map(({ name, chartVersion, revision, hooks }) => [
      name,
      chartVersion || '-',
      revision === undefined ? '-' : String(revision),
      hooks.join(', ') || '-',
    ]),
  ];
  const table = textTable(rows).trimEnd().split('\n');
  return lines([
    '',
    paint(
      'green',
      `Converged in ${seconds} s: ${counted(modules, 'module')}, ${counted(globalHooks, 'global hook')}`,
    ),
    '',
    ...table.map((row, index) => `  ${index === 0 ? paint('dim', row) : row}`),
    ...disabled.map(({ name, reason }) =>
      paint('dim', escapeControls(`  ${name} is not enabled${reason === '' ? '' : `: ${reason}`}`)),
    ),
    ...refused.map(({ name, reason }) => paint('red', escapeControls(`  ${name} does not run: ${reason}`))),
    `  global hooks: ${escapeControls(globalHooks.join(', ') || 'none')}`,
    '',
    `  jq engine    ${facts.jqEngine}`,
    `  helm         ${facts.helmVersion}`,
    `  log          ${facts.log}`,
    `  state        ${facts.stateDir} (kept; --reset deletes it)`,
  ]);
}

/** Where things are while the daemon runs, and what to try; every command works when pasted into sh as it is. */
export function tourScreen(facts: EndFacts, paint: Paint): string {
  const { kubeconfig, namespace, metricsUrl, debugSocket } = facts;
  const command = shellWord(facts.executable);
  const step = (title: string, command: readonly string[]): readonly string[] => [
    '',
    paint('bold', title),
    ...command,
  ];
  return lines([
    ...(facts.pageAddress === undefined ? [] : [`  page         ${facts.pageAddress}`]),
    `  metrics      ${metricsUrl}`,
    `  kubeconfig   export KUBECONFIG=${shellWord(kubeconfig)}`,
    ...(facts.kubectl === undefined
      ? ['  kubectl      none found: install it, https://kubernetes.io/docs/tasks/tools/']
      : []),
    '',
    'Try this in another terminal:',
    ...step('# see what was deployed', [
      `${kubectl(facts)} -n ${namespace} get deployments,services,configmaps`,
    ]),
    ...editStep(facts, step),
    ...firstModuleStep(facts, step),
    ...step('# write a hook with its test: it runs at once', [
      `${command} hook new ${shellWord(`${facts.globalHooksDir}/hello.sh`)}`,
    ]),
    ...step('# ask whether all is well', [`${command} status --debug-unix-socket ${shellWord(debugSocket)}`]),
    '',
    paint('bold', escapeControls(facts.status)),
    'Ctrl-C stops. What happens from now on:',
  ]);
}

type Step = (title: string, command: readonly string[]) => readonly string[];

function editStep(facts: EndFacts, step: Step): readonly string[] {
  const { edit, namespace, configMap } = facts;
  if (edit === undefined) return [];
  const patch = JSON.stringify({ data: { [edit.section]: dumpYaml(edit.sectionValues, 2) } });
  return step(`# edit a value: ${edit.key} of ${edit.module}, and only that module runs again`, [
    `${kubectl(facts)} -n ${namespace} patch configmap ${configMap} --type merge -p ${shellWord(patch)}`,
  ]);
}

/** Where there is nothing yet, a module is more to look at than a hook. */
function firstModuleStep(facts: EndFacts, step: Step): readonly string[] {
  const { modules, disabled, refused, modulesDir, executable } = facts;
  if (modules.length + disabled.length + refused.length > 0 || modulesDir === undefined) return [];
  const command = `${shellWord(executable)} module new hello --modules-dir ${shellWord(modulesDir)}`;
  return step('# write a module with a chart, a hook and its test: it is deployed at once', [command]);
}

function kubectl({ kubeconfig, kubectl: path }: EndFacts): string {
  return `KUBECONFIG=${shellWord(kubeconfig)} ${shellWord(path ?? 'kubectl')}`;
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

function counted(things: readonly unknown[], name: string): string {
  return `${things.length} ${name}${things.length === 1 ? '' : 's'}`;
}
