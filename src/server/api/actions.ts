/**
 * The one table of the actions that users can request: the API checks requests against it, the page makes its buttons
 * from it, the tools of MCP and the documented ClusterRoles are generated from it.
 */

import { ACTION_NAMES, type ActionName } from '../../status/action-names.ts';

/** Fields of the body of a request, besides `action`, and what they are. */
export const ACTION_FIELDS = {
  reason: 'Why; recorded. At most 1,000 characters.',
  for: 'How long a pause lasts, as a Go duration such as 2h; without it until it is resumed.',
  to: 'Revision or version of a rollback; without it the newest good one with other files.',
  withValues: '`true`: a rollback also restores the section of the ConfigMap.',
  dryRun: '`true`: a rollback is only checked.',
  queue: 'Name of the queue; of a hook run optional.',
  hook: 'Name of the hook, with `<module>/` in front for the hook of a module.',
  binding: 'Name of a kubernetes or schedule binding, or `onStartup`.',
  object: '`KIND/NAMESPACE/NAME`: the object of the event; without it the Synchronization.',
} as const;
export type ActionField = keyof typeof ACTION_FIELDS;

/** What an action is, for a client that offers it. */
export interface ActionKind {
  /** As in RBAC rules about `modules.addon-operator.io`. */
  readonly verb: 'reconcile' | 'pause' | 'abort' | 'rollback' | 'enable' | 'trigger';
  /** `module` actions are requested at `/modules/{name}/actions`, the others at `/actions`. */
  readonly target: 'module' | 'queue' | 'hook' | 'operator';
  /** On a button. */
  readonly label: string;
  /** What it does, in one sentence. */
  readonly does: string;
  /** What is lost or stops, in one sentence: it has to be confirmed. Empty: nothing is lost. */
  readonly loses: string;
  readonly needs: readonly ActionField[];
  /** Other fields, besides `reason`. */
  readonly takes: readonly ActionField[];
}

export const ACTIONS: Readonly<Record<ActionName, ActionKind>> = {
  reconcile: {
    verb: 'reconcile',
    target: 'module',
    label: 'Run now',
    does: 'Runs the module now. Helm runs only if something has changed.',
    loses: '',
    needs: [],
    takes: [],
  },
  'force-reconcile': {
    verb: 'reconcile',
    target: 'module',
    label: 'Run with helm',
    does: 'Runs the module now. Helm applies its chart even if nothing has changed.',
    loses: '',
    needs: [],
    takes: [],
  },
  abort: {
    verb: 'abort',
    target: 'module',
    label: 'Stop the run',
    does: 'Ends the run of the module that is in progress, with its hooks and helm.',
    loses: 'The run counts as failed, and the module is not run again until something about it changes.',
    needs: [],
    takes: [],
  },
  pause: {
    verb: 'pause',
    target: 'module',
    label: 'Pause',
    does: 'Stops runs of the module until it is resumed. Tasks behind it in the queue go on.',
    loses: '',
    needs: ['reason'],
    takes: ['for'],
  },
  resume: {
    verb: 'pause',
    target: 'module',
    label: 'Resume',
    does: 'Ends the pause of the module, and runs what waited for its end.',
    loses: '',
    needs: [],
    takes: [],
  },
  rollback: {
    verb: 'rollback',
    target: 'module',
    label: 'Roll back',
    does: 'Takes the module back to an earlier revision or version, which it then keeps.',
    loses: 'Changes of the module since then are undone.',
    needs: [],
    takes: ['to', 'withValues', 'dryRun'],
  },
  enable: {
    verb: 'enable',
    target: 'module',
    label: 'Enable',
    does: 'Sets the flag of the module in the ConfigMap to true.',
    loses: '',
    needs: [],
    takes: [],
  },
  disable: {
    verb: 'enable',
    target: 'module',
    label: 'Disable',
    does: 'Sets the flag of the module in the ConfigMap to false.',
    loses: 'The release of the module is deleted with its objects, unless its deletion policy keeps them.',
    needs: [],
    takes: [],
  },
  'heal-drift': {
    verb: 'reconcile',
    target: 'module',
    label: 'Restore objects',
    does: 'Runs the module with helm now, so that its objects are as the chart has them.',
    loses: 'Changes that others made to fields of the chart are overwritten.',
    needs: [],
    takes: [],
  },
  retry: {
    verb: 'reconcile',
    target: 'queue',
    label: 'Retry now',
    does: 'Ends the delay after a failure, so that the first task of the queue is tried again now.',
    loses: '',
    needs: ['queue'],
    takes: [],
  },
  'abort-hook': {
    verb: 'abort',
    target: 'hook',
    label: 'Stop the hook run',
    does: 'Ends the process of the hook. Its task is tried again as after a failure.',
    loses: 'The hook is killed, whatever it is doing, and begins again.',
    needs: ['hook'],
    takes: ['queue'],
  },
  'drop-hook': {
    verb: 'abort',
    target: 'hook',
    label: 'Drop the hook run',
    does: 'Ends the process of the hook and removes its task, so that the tasks behind it run.',
    loses: 'The hook is killed, and its event or tick is not repeated.',
    needs: ['hook'],
    takes: ['queue'],
  },
  'trigger-hook': {
    verb: 'trigger',
    target: 'hook',
    label: 'Run the hook',
    does: 'Queues one run of the hook for a binding, as an event or a tick would.',
    loses: '',
    needs: ['hook', 'binding'],
    takes: ['object'],
  },
  'pause-all': {
    verb: 'pause',
    target: 'operator',
    label: 'Pause all modules',
    does: 'Stops runs of all modules until they are resumed. Hooks for events go on.',
    loses: 'No module follows changes until then.',
    needs: ['reason'],
    takes: ['for'],
  },
  'resume-all': {
    verb: 'pause',
    target: 'operator',
    label: 'Resume all modules',
    does: 'Ends the pause of all modules, and runs what waited for its end.',
    loses: '',
    needs: [],
    takes: [],
  },
};

/** Names of the actions on one module, which the page requests at its address. */
export const MODULE_ACTIONS = ACTION_NAMES.filter((name) => ACTIONS[name].target === 'module');
/** Names of the actions on queues, hooks and the operator. */
export const OPERATOR_ACTIONS = ACTION_NAMES.filter((name) => ACTIONS[name].target !== 'module');
