/**
 * The conditions of a module as a tree, for `explain` and the page: the twelve conditions of `cause.ts` in order, each
 * with its sources below it. A condition with a cause is false, one that was not reached is null. It adds no knowledge: the
 * text of each false condition is that of its cause.
 */

import type { Cause, WhyId, WhyNode } from './cause.ts';
import { WHY_IDS } from './cause.ts';
import { resumeCommand } from './module-causes.ts';
import {
  type ModuleExplanation,
  type ModuleStatus,
  type RequiredModule,
  requiredText,
} from './module-explanation.ts';

/** The result of one source for the flag of a module. */
export interface FlagResponse {
  /** Such as `KubeConfig`. */
  readonly extender: string;
  readonly file: string | null;
  /** Null: nothing. */
  readonly isEnabled: boolean | null;
  readonly reason: string;
}

/** Data for the tree in addition to the explanation. */
export interface WhyDetails {
  /** Such as `webEnabled`. */
  readonly flag: string;
  /** In the order in which they count, the last one most. */
  readonly responses: readonly FlagResponse[];
  readonly hasChart: boolean;
}

type Leaf = Pick<WhyNode, 'ok' | 'text'> & Partial<WhyNode>;

/** A condition that comes after the first one that is not true. */
const NOT_REACHED: Leaf = { ok: null, text: 'not reached' };

/** Steps of a run, in their order. */
const STEPS = ['startup', 'synchronization', 'wait-for-synchronization', 'helm', 'ready'];

const UNDECIDED: ReadonlySet<ModuleStatus> = new Set(['undecided', 'held']);
/** States in which a module is not run. */
const NOT_RUN: ReadonlySet<ModuleStatus> = new Set([
  'undecided',
  'held',
  'disabled',
  'deleting',
  'unauthorized',
]);

/**
 * The conditions for a module to be ready, in the order in which they become true. A condition that was reached in the last
 * run stays true until a run fails there.
 */
export function whyTree(explanation: Omit<ModuleExplanation, 'why'>, details: WhyDetails): WhyNode {
  const children = WHY_IDS.map((id) => nodeOf(id, explanation, details));
  const problem = children.find(({ ok }) => ok === false);
  return node('module', {
    ok: problem === undefined ? (children.every(({ ok }) => ok === true) ? true : null) : false,
    text: problem?.text ?? `module ${explanation.module} is ${explanation.status}`,
    ref: `module/${explanation.module}`,
    children,
  });
}

/** A condition: its first cause decides, further causes become children. */
function nodeOf(id: WhyId, explanation: Omit<ModuleExplanation, 'why'>, details: WhyDetails): WhyNode {
  const found = explanation.causes.filter((cause) => cause.node === id);
  const leaf = leafOf(id, explanation, details);
  const [first, ...others] = found;
  if (first === undefined) return node(id, leaf);
  return node(id, {
    ...fromCause(first),
    children: [...(leaf.children ?? []), ...others.map((cause) => node(cause.reason, fromCause(cause)))],
  });
}

function fromCause({ reason, text, ref, remedy, until }: Cause): Leaf {
  return { ok: false, reason, text, ref, remedy, until };
}

/** A condition without a cause of its own. */
function leafOf(id: WhyId, explanation: Omit<ModuleExplanation, 'why'>, details: WhyDetails): Leaf {
  const { status, path, drift, release } = explanation;
  switch (id) {
    case 'authorized':
      return { ok: true, text: 'nothing denies the module' };
    case 'found':
      return { ok: true, text: `its directory is ${path}`, ref: path };
    case 'config':
      return { ok: true, text: 'the ConfigMap is accepted' };
    case 'enabled':
      return enabledLeaf(explanation, details);
    case 'not-paused':
      return pauseLeaf(explanation);
    case 'requirements':
      return requirementsLeaf(explanation);
    case 'queue':
      return queueLeaf(explanation);
    case 'synchronized':
      return reached(explanation, 'helm', 'its hooks with kubernetes bindings have seen the objects');
    case 'before-helm':
      return reached(explanation, 'ready', 'its beforeHelm hooks have run');
    case 'helm': {
      if (!details.hasChart) return { ok: NOT_RUN.has(status) ? null : true, text: 'it has no chart' };
      const revision = release === null ? '' : `, revision ${release.revision} of its release`;
      return reached(explanation, 'ready', `its chart is deployed${revision}`);
    }
    case 'hooks':
      return reached(explanation, 'ready', 'no run of its hooks for schedules and events fails');
    case 'ready': {
      // The run of the module did, and yet the module is not ready.
      if (status === 'failing') return NOT_REACHED;
      const count = drift?.objects.length ?? 0;
      const isUnwatched = drift === null && release !== null;
      const changed = count === 0 ? '' : `; others changed ${count} of its objects`;
      const watched = isUnwatched ? '; its objects are not watched' : '';
      return reached(explanation, 'ready', `its last run succeeded${changed}${watched}`);
    }
  }
}

/** The sources of the decision are children, in the order of increasing precedence. */
function enabledLeaf(explanation: Omit<ModuleExplanation, 'why'>, { responses, flag }: WhyDetails): Leaf {
  const { status, isEnabled, reason, source } = explanation;
  const children = responses.map(({ extender, file, isEnabled: ok, reason: why }) =>
    node(extender, { ok, text: why === '' ? responseText(ok) : why, source: extender, ref: file }),
  );
  if (UNDECIDED.has(status)) return { ok: null, text: reason, children };
  // What a module requires is a condition of its own.
  if (source === 'requirement')
    return {
      ok: true,
      text: `${flag} is true`,
      source: responses.findLast((one) => one.isEnabled)?.extender ?? null,
      children,
    };
  return {
    ok: isEnabled,
    text: reason,
    source,
    // What is being deleted is not to be enabled.
    remedy: isEnabled || status === 'deleting' ? null : enableRemedy(source, flag, responses),
    children,
  };
}

function responseText(isEnabled: boolean | null): string {
  if (isEnabled === null) return 'says nothing';
  return isEnabled ? 'enables it' : 'disables it';
}

/** Says where to enable the module, by the source that disabled it. */
function enableRemedy(source: string | null, flag: string, responses: readonly FlagResponse[]): string {
  const last = responses.findLast(({ isEnabled }) => isEnabled === false);
  if (source === 'enabled-script')
    return `${last?.file ?? 'its enabled script'} decides: change the script, or what it looks at`;
  if (source === 'config-map') return `set \`${flag}: "true"\` in the ConfigMap`;
  if (source === 'global-hook')
    return `set \`${flag}: "true"\` in the ConfigMap, which counts more than the global hook`;
  return `set \`${flag}: true\` in ${last?.file ?? 'values.yaml'} or \`${flag}: "true"\` in the ConfigMap`;
}

/** False during a pause or a hand-over, with the command that ends it. */
function pauseLeaf(explanation: Omit<ModuleExplanation, 'why'>): Leaf {
  const { pause } = explanation;
  if (pause === null) return { ok: true, text: 'it is not paused' };
  const until = pause.until === null ? '' : ` until ${pause.until}`;
  return {
    ok: false,
    text: pause.handedOverTo === undefined ? `paused${until}: ${pause.reason}` : pause.reason,
    until: pause.until,
    ...(pause.isTakenBack !== true && { remedy: resumeCommand(explanation) }),
  };
}

/** Required modules are children. */
function requirementsLeaf({ requires, isEnabled }: Omit<ModuleExplanation, 'why'>): Leaf {
  const children = requires.map(requirementNode);
  const unmet = requires.find((required) => required.unmet !== null)?.unmet ?? null;
  // Its deletion policy may keep it enabled all the same.
  if (unmet !== null) return { ok: isEnabled ? null : false, text: unmet.text, children };
  return {
    ok: true,
    text: requires.length === 0 ? 'it requires no other module' : 'the modules that it requires are enabled',
    children,
  };
}

/** Met is what lets the module be enabled: of one that fails it is open whether the module has to wait for it. */
function requirementNode(required: RequiredModule): WhyNode {
  const { name, status, unmet } = required;
  const isFailing = status === 'failing' || status === 'isolated';
  const ok = unmet === null ? (isFailing ? null : true) : false;
  return node(name, { ok, text: unmet?.text ?? requiredText(required), ref: `module/${name}` });
}

/** Open while tasks of others are in front; that needs no action. */
function queueLeaf({ status, waits }: Omit<ModuleExplanation, 'why'>): Leaf {
  const ahead = waits?.find(({ type }) => type === 'queue');
  if (ahead !== undefined) return { ok: null, text: ahead.text };
  if (NOT_RUN.has(status)) return NOT_REACHED;
  return { ok: true, text: 'no task of others is in front of it' };
}

/** True once the last run has come to that step. */
function reached(
  { status, step }: Omit<ModuleExplanation, 'why'>,
  after: 'helm' | 'ready',
  text: string,
): Leaf {
  if (NOT_RUN.has(status)) return NOT_REACHED;
  const isReached = STEPS.indexOf(step) >= STEPS.indexOf(after);
  return isReached ? { ok: true, text } : NOT_REACHED;
}

function node(id: string, { ok, text, ...more }: Leaf): WhyNode {
  return {
    reason: null,
    source: null,
    ref: null,
    remedy: null,
    until: null,
    children: [],
    ...more,
    id,
    ok,
    text,
  };
}
