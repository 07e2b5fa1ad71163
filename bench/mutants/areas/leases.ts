import type { MutatedFile } from '../mutant.ts';

/** Who leads, and who serves webhooks. */
export const LEASES: readonly MutatedFile[] = [
  {
    file: 'packages/kube-client/src/leader-election/leader-elector.ts',
    mutants: [
      {
        find: 'holding.term = leaseTerm(times, startMs);',
        replace: 'holding.term = leaseTerm(times, steadyClock.steadyMs());',
        breaks: 'A term is counted from the end of its renewal, and two replicas lead.',
      },
      {
        find: "if (startMs >= holding.term.stopAtMs) return { type: 'not-renewed' };",
        replace: '',
        breaks: 'A leader whose term is over renews it.',
      },
      {
        find: "if (steadyClock.steadyMs() >= holding.term.stopAtMs) return { type: 'not-renewed' };",
        replace: '',
        breaks: 'A renewal that took too long is taken for one in time.',
      },
      {
        find: "if (finding.type === 'taken') return finding;",
        replace: '',
        breaks: 'A leader overwrites the lease of its successor.',
      },
      {
        find: 'spec, signal, holding.term.stopAtMs);',
        replace: 'spec, signal);',
        breaks: 'A leader that was stopped writes after its term.',
      },
      {
        find: "if (action.type === 'wait') return action.untilMs;",
        replace: '',
        breaks: 'A replica takes the lease of a leader that is active.',
      },
      {
        find: '      this.#observation = withoutReading(this.#observation);\n',
        replace: '',
        breaks: 'A deletion of the Lease during an outage is counted from too early.',
      },
      {
        find: 'if (object === undefined) return Number.POSITIVE_INFINITY;',
        replace: 'if (object === undefined) return 0;',
        breaks: 'A candidate that loses each race calls the API server without a pause.',
      },
      {
        find: "!== 'ours') return;",
        replace: "=== 'gone') return;",
        breaks: 'The lease of a successor is given back.',
      },
      {
        find: '      object = undefined;\n',
        replace: '',
        breaks: 'A lease is not given back after a conflict.',
      },
      {
        find: 'holding.object = undefined;\n      const spec',
        replace: 'const spec',
        breaks: 'After a conflict the lease is never renewed.',
      },
      {
        find: '.transitions + 1;',
        replace: '.transitions;',
        breaks: 'Changes of the leader are not counted.',
      },
      {
        find: 'if (conflicts === MAX_CONFLICTS)',
        replace: 'if (conflicts > 1_000_000)',
        breaks: 'A leader that always loses renews without end.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/leader-election/lease-election.ts',
    mutants: [
      {
        find: "spec.holder === '' || spec.holder === identity",
        replace: "spec.holder === ''",
        breaks: 'A replica that restarts waits for its own lease.',
      },
      {
        find: 'sinceMs + (spec.durationMs ?? durationMs)',
        replace: 'sinceMs',
        breaks: 'A lease is taken from a leader that is active.',
      },
      {
        find: 'found.holder === identity && found.acquireTime === acquireTime',
        replace: 'found.holder === identity',
        breaks: 'Two processes of one identity lead.',
      },
      {
        find: 'return previous.isDeleted ? previous :',
        replace: 'return',
        breaks: 'A deleted Lease is waited for for ever.',
      },
      {
        find: '{ ...previous, sinceMs: nowMs, isDeleted: true };',
        replace: '{ ...previous, isDeleted: true };',
        breaks: 'A lease is taken although its holder may write it again.',
      },
      {
        find: 'previous?.text === text && !previous.isDeleted',
        replace: 'previous?.text === text',
        breaks: 'A Lease that was written again counts as deleted.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/leader-election/lease-fence.ts',
    mutants: [
      {
        find: '    this.#isClosed = true;\n    throw',
        replace: '    throw',
        breaks: 'A fence that was found closed opens again.',
      },
      { find: 'if (!this.#isClosed && this', replace: 'if (this', breaks: 'A lost lease allows writes.' },
      {
        find: 'this.#clock.steadyMs() < this.#stopAtMs',
        replace: 'this.#clock.steadyMs() <= this.#stopAtMs',
        breaks: 'Writes are allowed at the end of a term.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/leader-election/lease-term.ts',
    mutants: [
      {
        find: 'requestedAtMs + times.renewDeadlineMs',
        replace: 'requestedAtMs + times.durationMs',
        breaks: 'A leader acts until others may start.',
      },
      {
        find: 'killAtMs: expiresAtMs - partMs',
        replace: 'killAtMs: expiresAtMs',
        breaks: 'Processes are killed when another leader may have started.',
      },
    ],
  },
  {
    file: 'packages/kube-client/src/leader-election/lease-store.ts',
    tests: ['packages/kube-client/src/leader-election/leader-elector.test.ts'],
    mutants: [
      {
        find: "{ ...read, spec: { ...fieldsOf(read['spec']), ...spec } }",
        replace: '{ ...read, spec }',
        breaks: 'Fields of others in a Lease are lost.',
      },
      {
        find: 'if (isOutrun(error, isNew)) return undefined;',
        replace: '',
        breaks: 'A race for the lease counts as a failure.',
      },
      {
        find: ', sendBeforeMs } as const',
        replace: '} as const',
        breaks: 'A write of the Lease is sent late.',
      },
    ],
  },
  {
    file: 'src/leader/webhook-endpoint.ts',
    mutants: [
      {
        find: '      await clock.sleep(DRAIN_MS, this.#abandoned.signal);\n',
        replace: '',
        breaks: 'A replica stops while clients connect to it.',
      },
      {
        find: 'if (hasStatus(error, FORBIDDEN) || hasStatus(error, NOT_FOUND)) throw error;',
        replace: '',
        breaks: 'A missing permission is retried for ever.',
      },
      {
        find: '        await clock.sleep(RENEWAL_MS, stop);\n',
        replace: '        return;\n',
        breaks: 'A label that was removed stays away.',
      },
    ],
  },
];
