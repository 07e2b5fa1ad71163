import type { MutatedFile } from '../mutant.ts';

/** Requests, their retries, and who shares a watch. */
export const REQUESTS: readonly MutatedFile[] = [
  {
    file: 'packages/kube-client/src/reflector-subscribers.ts',
    tests: [
      'packages/kube-client/src/reflector-shared.test.ts',
      'packages/kube-client/src/reflector.property.test.ts',
      'packages/kube-client/src/reflector.test.ts',
    ],
    mutants: [
      { find: '    this.#onJoin();\n', replace: '', breaks: 'A new binding waits for the next event.' },
      {
        find: 'if (this.hasNewcomers) callback();',
        replace: '',
        breaks: 'A binding that joined during an event waits for the next one.',
      },
      {
        find: "      signal.removeEventListener('abort', leave);\n",
        replace: '',
        breaks: 'Listeners of bindings that left stay.',
      },
      {
        find: '      this.#live.delete(subscriber);\n',
        replace: '',
        breaks: 'Bindings that left get events.',
      },
      {
        find: 'if (signal.aborted) return;\n    try',
        replace: 'try',
        breaks: 'An event reaches a binding that has left.',
      },
      {
        find: '      this.#onError(event, error);\n',
        replace: '      throw error;\n',
        breaks: 'One binding that fails ends the watch of all.',
      },
      { find: '      subscriber.sink.commit();\n', replace: '', breaks: 'First states are not taken over.' },
      {
        find: 'for (const { sink } of this.#present) sink.discard();',
        replace: '',
        breaks: 'A list that starts again is added to what it delivered before.',
      },
      {
        find: '        this.#refuse(subscriber, error);\n      }\n    });',
        replace: '        throw error;\n      }\n    });',
        breaks: 'A filter that fails at the start of one binding makes the list of others fail.',
      },
      {
        find: 'if (!signal.aborted) leave();',
        replace: '',
        breaks: 'A reflector without subscribers goes on.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/reflector-shared.ts',
    mutants: [
      {
        find: 'if (!entry.reflector.isUnused) return;',
        replace: '',
        breaks: 'The first binding that leaves ends the watch of all.',
      },
      { find: '        entry.stop.abort();\n', replace: '', breaks: 'A watch without bindings goes on.' },
      {
        find: 'if (running.get(key) === entry) running.delete(key);',
        replace: '',
        breaks: 'A binding joins a reflector that has stopped.',
      },
      {
        find: "labelSelector ?? '',",
        replace: '',
        breaks: 'Bindings with different label selectors share their objects.',
      },
      {
        find: 'isMetadataOnly ?? false,',
        replace: '',
        breaks: 'Bindings that need whole objects get metadata.',
      },
      {
        find: "namespace ?? '',",
        replace: '',
        breaks: 'Bindings of different namespaces share their objects.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/retry.ts',
    mutants: [
      {
        find: 'Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (failures - 1))',
        replace: 'INITIAL_DELAY_MS * 2 ** (failures - 1)',
        breaks: 'Pauses of an outage grow without limit.',
      },
      {
        find: '* (1 - JITTER * random())',
        replace: '* (1 + JITTER * random())',
        breaks: 'Pauses are longer than promised.',
      },
      {
        find: '      await clock.sleep(delayMs, signal);\n',
        replace: '',
        breaks: 'Requests are repeated without a pause.',
      },
      {
        find: "if (!hasCode(error, 'KUBE_UNREACHABLE') && !hasCode(error, 'KUBE_API')) throw error;",
        replace: '',
        breaks: 'Errors that no wait repairs are waited for.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/api-refusal.ts',
    mutants: [
      {
        find: 'response.status === FORBIDDEN ? adviceFor(message) : undefined',
        replace: 'undefined',
        breaks: 'A missing permission is not explained.',
      },
      {
        find: 'message.slice(0, MAX_MESSAGE_LENGTH)',
        replace: 'message',
        breaks: "A proxy's page fills the log.",
      },
      { find: '    causes,\n', replace: '', breaks: 'Causes of a refusal are lost.' },
    ],
  },
  {
    file: 'packages/kube-client/src/http-exchange.ts',
    tests: ['packages/kube-client/src/http-kube-client.test.ts'],
    mutants: [
      {
        find: "    signal.removeEventListener('abort', onAbort);\n",
        replace: '',
        breaks: 'Each request leaves a listener behind.',
      },
      {
        find: '    outgoing.destroy(asError(signal.reason));\n',
        replace: '',
        breaks: 'An aborted request goes on.',
      },
      {
        find: 'else if (outgoing.reusedSocket && isReset(error))',
        replace: 'else if (outgoing.reusedSocket && false)',
        breaks: 'A request on a stale connection fails.',
      },
      {
        find: '  try {\n    beforeSend();',
        replace: '  try {',
        breaks: 'A write is sent that the lease does not allow any more.',
      },
      {
        find: "if (pieces.length > 0) throw new TruncatedLineError('the stream ended within a line');",
        replace: '',
        breaks: 'A line that was cut is taken for the end of a stream.',
      },
      {
        find: '{ fatal: true, ignoreBOM: true }',
        replace: '{ fatal: false, ignoreBOM: true }',
        breaks: 'Bytes that are no UTF-8 are replaced.',
      },
    ],
  },
];
