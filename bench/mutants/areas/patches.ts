import type { MutatedFile } from '../mutant.ts';

/** Patches of objects. */
export const PATCHES: readonly MutatedFile[] = [
  {
    file: 'packages/kube-client/src/object-patch/create-object.ts',
    mutants: [
      {
        find: 'isConflict(error) || hasStatus(error, 404)',
        replace: 'isConflict(error)',
        breaks: 'An object that is deleted between the read and the write is not created again.',
      },
      {
        find: 'resourceVersion: resourceVersionOf(existing)',
        replace: 'resourceVersion: undefined',
        breaks: 'Changes of others are overwritten.',
      },
      {
        find: ' || is.length !== should.length',
        replace: '',
        breaks: 'A list with further items counts as the wanted one.',
      },
      {
        find: 'if (is !== undefined && !isObject(is)) return false;',
        replace: '',
        breaks: 'An object of another client counts as the one that was created.',
      },
      {
        find: ' || (is === undefined && isEmpty(should))',
        replace: '',
        breaks: 'An object that was created counts as one of another client.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/object-patch/patch-object.ts',
    tests: ['packages/kube-client/src/object-patch/object-patcher.test.ts'],
    mutants: [
      {
        find: 'if (!patch.ignoreMissingObject) throw error;',
        replace: 'throw error;',
        breaks: 'A missing object fails a patch that ignores it.',
      },
      {
        find: "if (canonicalJson(changed) === canonicalJson(object)) return { type: 'done', value: undefined };",
        replace: '',
        breaks: 'Objects are written although nothing changes.',
      },
      {
        find: "if (isConflict(error)) return { type: 'lost', error };",
        replace: '',
        breaks: 'A patch that loses a race fails.',
      },
      {
        find: '&& !wasUnknown;',
        replace: ';',
        breaks: 'A write without a response is repeated again and again.',
      },
      {
        find: 'if (!isConflict(error) && !isFirstUnknown) throw error;',
        replace: 'if (!isFirstUnknown) throw error;',
        breaks: 'A change by jq that loses a race fails.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/object-patch/delete-object.ts',
    tests: ['packages/kube-client/src/object-patch/object-patcher.test.ts'],
    mutants: [
      {
        find: "Delete: 'Foreground',",
        replace: "Delete: 'Background',",
        breaks: 'Dependents stay when a deletion is over.',
      },
      {
        find: "if (operation === 'Delete') await",
        replace: "if (operation !== 'Delete') await",
        breaks: 'A deletion is not waited for.',
      },
      {
        find: 'if (uid !== undefined && uidOf(object) !== uid) return;',
        replace: '',
        breaks: 'A new object of the same name is taken for the deleted one.',
      },
      {
        find: '    if (!hasStatus(error, 404)) throw error;\n    warn',
        replace: '    warn',
        breaks: 'A deletion that failed counts as done.',
      },
      {
        find: 'poll < MAX_POLLS',
        replace: 'poll < 1_000',
        breaks: 'A deletion that is blocked is waited for too long.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/object-patch/object-patcher.ts',
    mutants: [
      {
        find: '        failures.push({ message, error });\n',
        replace: '',
        breaks: 'Failed operations are not reported.',
      },
      {
        find: 'signal.throwIfAborted();\n        const message',
        replace: 'const message',
        breaks: 'The stop counts as a failed operation.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/object-patch/patch-context.ts',
    tests: [
      'packages/kube-client/src/object-patch/object-patcher.test.ts',
      'packages/kube-client/src/object-patch/create-object.test.ts',
    ],
    mutants: [
      {
        find: "hasCode(error, 'KUBE_UNREACHABLE') || hasStatus(error, 504)",
        replace: "hasCode(error, 'KUBE_UNREACHABLE')",
        breaks: 'A write that timed out counts as not done.',
      },
      {
        find: "&& error.reason !== 'AlreadyExists'",
        replace: '',
        breaks: 'An object that exists counts as a race.',
      },
      {
        find: 'if (delayMs === undefined) throw outcome.error;',
        replace: '',
        breaks: 'A write that loses each race is repeated for ever.',
      },
      {
        find: 'await clock.sleep(delayMs * (1 + JITTER * random()), signal);',
        replace: '',
        breaks: 'A write that lost a race is repeated without a pause.',
      },
    ],
  },
];
