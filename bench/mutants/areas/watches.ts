import type { MutatedFile } from '../mutant.ts';

/** Lists and watches. */
export const WATCHES: readonly MutatedFile[] = [
  {
    file: 'packages/kube-client/src/reflector.ts',
    mutants: [
      {
        find: '        this.#hasUnusable = false;\n        comparison = this.#index.compare(this.#isConverted);',
        replace: '        this.#hasUnusable = false;',
        breaks: 'An object that is deleted between the attempts of one list stays known.',
      },
      {
        find: '        comparison = this.#index.compare(this.#isConverted);\n        newcomers.discard();',
        replace: '        comparison = this.#index.compare(this.#isConverted);',
        breaks: 'A newcomer keeps objects of an attempt that expired.',
      },
      {
        find: 'if (this.#isInterrupted) await this.#checkStore(signal);',
        replace: '',
        breaks: 'A restored store of the API server is not noticed.',
      },
      {
        find: 'if (isOlderVersion(version, this.#newest)) this.#position = undefined;',
        replace: '',
        breaks: 'The position in a restored store is kept.',
      },
      {
        find: "      this.#isInterrupted ||= hasCode(error, 'KUBE_UNREACHABLE');\n",
        replace: '',
        breaks: 'The store is not looked at after an outage.',
      },
      {
        find: "this.#isInterrupted ||= notice.reason === 'early' || notice.reason === 'broken';",
        replace: '',
        breaks: 'The store is not looked at after a watch was cut.',
      },
      {
        find: "if (notice.reason !== 'broken') this.#position = undefined;",
        replace: '',
        breaks: 'An expired watch is tried again for ever.',
      },
      {
        find: "if (notice.reason !== 'broken') this.#position",
        replace: 'this.#position',
        breaks: 'A broken watch leads to a list of all objects.',
      },
      {
        find: 'if (isCovered) return;',
        replace: '',
        breaks: 'Events that a list covers are reported again.',
      },
      {
        find: 'if (this.#position !== undefined && isOlderVersion(resourceVersion, this.#position)) return;',
        replace: '',
        breaks: 'An older event sets the position back.',
      },
      {
        find: '    this.#position = resourceVersion;\n    this.#newest = resourceVersion;\n    this.#listed',
        replace: '    this.#position = resourceVersion;\n    this.#listed',
        breaks: 'A list may be older than what subscribers know.',
      },
      {
        find: "result.status === 'healthy' || isLongAgo",
        replace: 'isLongAgo',
        breaks: 'Pauses grow although watches end in good order.',
      },
      { find: '        failures += 1;\n', replace: '', breaks: 'Pauses of an outage do not grow.' },
      {
        find: 'this.#subscribers.whenJoined(() => joined.abort());',
        replace: '',
        breaks: 'A new binding waits for the pause of an outage.',
      },
      {
        find: 'if (this.#misses < MISSES_UNTIL_GONE) return;',
        replace: '',
        breaks: 'One response without a kind deletes all its objects.',
      },
      {
        find: 'this.#misses = served === undefined ? this.#misses + 1 : 0;',
        replace: 'this.#misses = this.#misses + 1;',
        breaks: 'A kind that changes its version is taken for gone.',
      },
      {
        find: 'if (!hasStatus(error, 404)) {',
        replace: 'if (hasStatus(error, 404)) {',
        breaks: 'Objects of a kind that is gone stay.',
      },
      {
        find: '    this.#isConverted = true;\n',
        replace: '',
        breaks: 'Objects keep the old version of their kind.',
      },
      {
        find: 'if (served?.version === resource.version) this.#follow(served);',
        replace: '',
        breaks: 'A restored version of a kind is not used again.',
      },
      {
        find: "return isProgress && notice.reason !== 'broken' ? HEALTHY : FAILED;",
        replace: 'return HEALTHY;',
        breaks: 'A watch that breaks at once is opened again without a pause.',
      },
      {
        find: 'if (!(await this.#listForNewcomers(signal))) return FAILED;',
        replace: 'await this.#listForNewcomers(signal);',
        breaks: 'A watch goes on that does not continue the list.',
      },
      {
        find: '      close.abort();\n',
        replace: '',
        breaks: 'A watch that is not used any more stays open.',
      },
      {
        find: 'for (const sink of relisted) sink.relisted?.();',
        replace: '',
        breaks: 'Filters that failed are not tried again after a list.',
      },
      {
        find: 'this.#subscribers.notify((sink) => sink.failed?.(error));',
        replace: '',
        breaks: 'Bindings do not learn that their watch is refused.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/reflector-list.ts',
    tests: [
      'packages/kube-client/src/reflector.test.ts',
      'packages/kube-client/src/reflector-restore.test.ts',
    ],
    mutants: [
      {
        find: 'if (attempt === MAX_ATTEMPTS) throw outcome.error;',
        replace: '',
        breaks: 'A list that expires each time is tried for ever.',
      },
      { find: '    request.onRestart();\n', replace: '', breaks: 'What an expired list delivered is kept.' },
      {
        find: "if (outcome.status === 'too-old') notOlderThan = undefined;",
        replace: '',
        breaks: 'A restored store is never listed.',
      },
      {
        find: "if (hasStatus(error, 410)) return { status: 'expired', error };",
        replace: '',
        breaks: 'A list that expires half-way fails.',
      },
      {
        find: 'continue: from.next,',
        replace: 'continue: undefined,',
        breaks: 'Only the first page of a list is read.',
      },
      {
        find: "isFirst && from.notOlderThan !== undefined ? 'NotOlderThan' : undefined",
        replace: 'undefined',
        breaks: 'A list may be older than what is known.',
      },
      {
        find: "typeof next === 'string' && next !== '' ? next : undefined",
        replace: 'undefined',
        breaks: 'Objects beyond the first page are missing.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/reflector-index.ts',
    tests: [
      'packages/kube-client/src/reflector.test.ts',
      'packages/kube-client/src/reflector.property.test.ts',
      'packages/kube-client/src/reflector-shared.test.ts',
    ],
    mutants: [
      {
        find: 'if (known !== undefined && isOutdated(seen, known, change)) return [];',
        replace: '',
        breaks: 'Older events are reported.',
      },
      {
        find: "return known === undefined ? [] : [{ type: 'Deleted', key, object }];",
        replace: "return [{ type: 'Deleted', key, object }];",
        breaks: 'The deletion of an unknown object is reported.',
      },
      { find: '      this.#known.delete(key);\n', replace: '', breaks: 'A deleted object stays known.' },
      {
        find: '.filter((key) => !this.#after.has(key))',
        replace: ".filter((key) => key === '')",
        breaks: 'Deletions during an outage are not reported.',
      },
      {
        find: '    this.#adopt(this.#after);\n',
        replace: '',
        breaks: 'The next list is compared with an older one.',
      },
      {
        find: 'return [...gone, ...this.#replaced, ...this.#changed];',
        replace: 'return [...gone, ...this.#changed];',
        breaks: 'An object that was created again is not reported as deleted.',
      },
      {
        find: 'this.#isConverted || known.resourceVersion !== seen.resourceVersion',
        replace: 'known.resourceVersion !== seen.resourceVersion',
        breaks: 'Objects keep the old version of their kind after a list.',
      },
      {
        find: '} else if (known.uid !== seen.uid) {',
        replace: "} else if (known.uid === '') {",
        breaks: 'A list reports a new object as a change of the old one.',
      },
      {
        find: "return change !== 'Deleted' && seen.uid",
        replace: 'return seen.uid',
        breaks: 'A deletion under the version of the last change is lost.',
      },
      {
        find: 'if (known === undefined || known.uid === seen.uid) return',
        replace: 'if (known !== undefined) return',
        breaks: 'New objects are reported as deleted first.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/reflector-watch.ts',
    tests: [
      'packages/kube-client/src/reflector.test.ts',
      'packages/kube-client/src/reflector.loopback.test.ts',
      'packages/kube-client/src/reflector.property.test.ts',
    ],
    mutants: [
      {
        find: 'if (this.#isListening && silentMs >= IDLE_LIMIT_MS) return onTooLong();',
        replace: 'if (silentMs < 0) return onTooLong();',
        breaks: 'A dead connection is never noticed.',
      },
      {
        find: '      silence.begin();\n',
        replace: '',
        breaks: 'Silence is not measured after the first event.',
      },
      {
        find: "deps.clock.steadyMs() < fullTimeMs ? 'early' : 'closed'",
        replace: "'closed'",
        breaks: 'A watch that was cut counts as ended in good order.',
      },
      { find: "['MODIFIED', 'Modified'],", replace: '', breaks: 'Changed objects break the watch.' },
      {
        find: "code === 410 || reason === 'Expired' || reason === 'Gone'",
        replace: 'code === 0',
        breaks: 'An expired watch counts as broken and is tried again for ever.',
      },
      { find: "allowWatchBookmarks: 'true',", replace: '', breaks: 'Quiet watches expire.' },
      {
        find: '    return unusable(`the object of an event, ${keyOf(object)}, has no resourceVersion`);',
        replace: "    return { type: 'change', change, object, resourceVersion: '' };",
        breaks: 'The position of a watch is lost.',
      },
      {
        find: "  if (type === 'BOOKMARK')\n",
        replace: "  if (type === 'NONE')\n",
        breaks: 'Bookmarks are taken for objects.',
      },
      {
        find: '} else if (isOpen) {',
        replace: '} else if (!isOpen) {',
        breaks: 'A refused watch counts as one that broke.',
      },
      {
        find: "return broken('a line is not JSON');",
        replace: "return { type: 'bookmark', resourceVersion: '0' };",
        breaks: 'A line that was cut is skipped.',
      },
    ],
  },
];
