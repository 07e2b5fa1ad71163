import type { Trigger } from './trigger.ts';

/** Kinds of which any object with a name is valid. */
const FREE_KINDS = new Set(['ConfigMap', 'Secret', 'Namespace', 'ServiceAccount']);

interface TestSubject {
  /** Relative to the directory above `tests`. */
  readonly hook: string;
  /** The output of the hook in each run. */
  readonly greeting: string;
  readonly trigger: Trigger;
  /** Path of the schema for editors, relative to the test. */
  readonly schema?: string | undefined;
  /** Why the cases cannot run yet. */
  readonly skip?: string | undefined;
}

/** The test of a new hook. */
export function hookTestText({ hook, greeting, trigger, schema, skip }: TestSubject): string {
  const head = schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`;
  const reason = skip ?? customKind(trigger);
  const skipped = reason === undefined ? '' : `  skip: ${JSON.stringify(reason)}\n`;
  return `${head}hook: ${JSON.stringify(hook)}\ncases:\n- name: ${nameOf(trigger)}\n${skipped}  steps:\n${stepsOf(trigger, greeting)}`;
}

function nameOf(trigger: Trigger): string {
  switch (trigger.type) {
    case 'lifecycle':
      return `runs at ${trigger.binding}`;
    case 'schedule':
      return 'runs when its schedule is due';
    case 'kubernetes':
      return `runs for each ${trigger.kind}`;
    case 'validating':
      return 'has nothing to do at the start';
  }
}

function stepsOf(trigger: Trigger, greeting: string): string {
  const output = `output: {$contains: ${JSON.stringify(greeting)}}`;
  switch (trigger.type) {
    case 'lifecycle':
      return trigger.binding === 'onStartup'
        ? `  - start: {}\n    expect: {runs: 1, ${output}}\n`
        : `  - run: ${trigger.binding}\n    expect: {runs: 1, ${output}}\n`;
    case 'schedule':
      return `  - start\n  - tick: timer\n    expect: {runs: 1, contexts: [{binding: timer}], ${output}}\n`;
    case 'kubernetes': {
      const { apiVersion, kind } = trigger;
      const start =
        '  - start: {}\n    expect: {runs: 1, contexts: [{binding: objects, type: Synchronization}]}\n';
      if (!FREE_KINDS.has(kind) || apiVersion !== 'v1') return start;
      const namespace = kind === 'Namespace' ? '' : ', namespace: default';
      return `${start}  - apply: {apiVersion: v1, kind: ${kind}, metadata: {name: example${namespace}}}
    expect: {runs: 1, contexts: [{type: Event, watchEvent: Added, filterResult: {name: example}}], ${output}}\n`;
    }
    case 'validating':
      return '  - start: {}\n    expect: {runs: 0}\n';
  }
}

/** A kind that is not built in is served only when its CRD is there. */
function customKind(trigger: Trigger): string | undefined {
  if (trigger.type !== 'kubernetes') return undefined;
  const [group = ''] = trigger.apiVersion.includes('/') ? trigger.apiVersion.split('/') : [''];
  if (!group.includes('.') || group.endsWith('.k8s.io')) return undefined;
  return `put the CRD of ${trigger.kind} into crds/ of the module, or among cluster`;
}
