import type { MutatedFile } from '../mutant.ts';

/** Converges and the states of modules. */
export const CONVERGE: readonly MutatedFile[] = [
  {
    file: 'src/model/converge.ts',
    mutants: [
      { find: '.toReversed(),', replace: ',', breaks: 'Modules are deleted in the order in which they run.' },
      { find: '!enabled.has(name) && (', replace: '(', breaks: 'An enabled module is deleted.' },
      {
        find: 'facts.started.has(name) || facts.releases.has(name)',
        replace: 'facts.started.has(name)',
        breaks: 'A release of a module that was disabled while the operator was down stays.',
      },
      {
        find: '|| facts.releases.has(name)))',
        replace: '&& facts.releases.has(name)))',
        breaks: 'Hooks of a disabled module without a release go on.',
      },
      {
        find: 'doModuleStartup: !facts.initialized.has(module)',
        replace: 'doModuleStartup: facts.initialized.has(module)',
        breaks: 'A module that is complete is started again.',
      },
    ],
  },
  {
    file: 'src/model/converge-state.ts',
    mutants: [
      {
        find: 'this.#start ??= {',
        replace: 'this.#start = {',
        breaks: 'A converge that is started over loses its start.',
      },
      {
        find: '    this.#start = undefined;\n',
        replace: '',
        breaks: 'The end of a converge is reported with the start of an earlier one.',
      },
      {
        find: "if (this.#first === 'not-started') this.#first = 'running';",
        replace: '',
        breaks: 'The first converge is not shown as running.',
      },
      {
        find: 'return this.#deferredRuns.delete(module);',
        replace: 'return this.#deferredRuns.has(module);',
        breaks: 'A resumed module is run again at each resume.',
      },
      {
        find: '    this.#unloaded = [];\n',
        replace: '',
        breaks: 'Files that failed to load stay shown after they were repaired.',
      },
      {
        find: 'this.#atReload = this.#atNextReload.splice(0);',
        replace: 'this.#atReload = [];',
        breaks: 'Whoever waits for a reload waits for ever.',
      },
      {
        find: "this.#first === 'done' ? '' : 'OperatorStartup'",
        replace: "this.#first === 'done' ? 'OperatorStartup' : ''",
        breaks: 'Activation labels are exchanged.',
      },
    ],
  },
  {
    file: 'src/model/module-state.ts',
    mutants: [
      {
        find: "if (stage.type === 'starting' || stage.type === 'synchronizing') return state;",
        replace: '',
        breaks: 'A module is ready that has not been synchronized.',
      },
      {
        find: 'return { ...succeeded(stage, event.isRepeated), isRunPending: false, isForcePending: false };',
        replace: 'return { ...succeeded(stage, event.isRepeated), isRunPending: false, isForcePending };',
        breaks: 'Helm is forced by every run after one request.',
      },
      {
        find: "return { type: 'stalled', at: stageOf(now), stall: event.stall, isRunPending: false, isForcePending };",
        replace:
          "return { type: 'stalled', at: stageOf(now), stall: event.stall, isRunPending: false, isForcePending: false };",
        breaks: 'A forced upgrade is forgotten when its run stalls.',
      },
      {
        find: 'return { ...enabledOf(now), isRunPending: true, isForcePending };',
        replace: 'return { ...enabledOf(now), isRunPending: false, isForcePending };',
        breaks: 'A change is forgotten that a flow hook puts off.',
      },
      {
        find: "return now.type === 'deleting' ? transition(state, { type: 'run-requested' }) : state;",
        replace: 'return state;',
        breaks: 'A deletion that was put off goes on although the module is enabled again.',
      },
      {
        find: "const interrupted = { type: 'starting', hooks: hooksOf(state) } as const;",
        replace: 'const interrupted = enabledOf(now);',
        breaks: 'A module that is enabled during its deletion does not start from the beginning.',
      },
      {
        find: "return { type: 'deleting', interrupted: enabledOf(now), isRunPending: false, isForcePending };",
        replace: "return { type: 'deleting', interrupted: enabledOf(now), isRunPending, isForcePending };",
        breaks: 'A run is pending for a module that is to be deleted.',
      },
      {
        find: "if (stage.type !== 'starting' || stage.hooks === undefined) return stage;",
        replace: 'if (stage.hooks === undefined) return stage;',
        breaks: 'A module goes back to its Synchronization.',
      },
      {
        find: "if (stage.type !== 'synchronizing' || !stage.areMonitorsStarted) return stage;",
        replace: "if (stage.type !== 'synchronizing') return stage;",
        breaks: 'A module is deployed before its monitors are started.',
      },
      {
        find: "if (type === 'deploying' && isRepeated)",
        replace: 'if (isRepeated)',
        breaks: 'A ready module is shown as unfinished.',
      },
      {
        find: "(enabled.type === 'stalled' ? failed(enabled.at) : enabled)",
        replace: 'enabled',
        breaks: 'A module that is tried again is shown as stalled.',
      },
      {
        find: "return isRunPending || (type !== 'ready' && type !== 'stalled');",
        replace: "return isRunPending || type !== 'ready';",
        breaks: 'A stalled module counts as unfinished.',
      },
      {
        find: "return type !== 'starting' || hooks !== undefined;",
        replace: "return type !== 'starting';",
        breaks: 'A module whose onStartup hooks ran is not ended.',
      },
      {
        find: "|| (enabled.type === 'deploying' && enabled.hasSucceeded);",
        replace: ';',
        breaks: 'A module whose hooks changed values counts as not deployed.',
      },
      {
        find: '&& stage.hasDeployFailed && !stage.hasSucceeded;',
        replace: '&& stage.hasDeployFailed;',
        breaks: 'Start-up hooks are repeated for a module that was complete.',
      },
      {
        find: "return enabled.type === 'stalled' || enabled.type === 'failed' ? enabled : { type: 'failed', at: enabled };",
        replace: "return enabled.type === 'failed' ? enabled : { type: 'failed', at: stageOf(enabled) };",
        breaks: 'A stalled module loses the reason of its stall.',
      },
    ],
  },
  {
    file: 'src/model/synchronization.ts',
    mutants: [
      {
        find: 'if (this.isDone) this.wake();',
        replace: 'this.wake();',
        breaks: 'Runs that wait for Synchronizations are woken too often.',
      },
      {
        find: 'this.#pending.set(binding, { ...expected, isLost: true });\n    this.wake();',
        replace: 'this.#pending.set(binding, { ...expected, isLost: true });',
        breaks: 'A run waits for ever for a Synchronization that was dropped.',
      },
      {
        find: 'if (expected === undefined) return;',
        replace: '',
        breaks: 'A binding that is synchronized is expected again.',
      },
      {
        find: '    this.#failure = undefined;\n',
        replace: '',
        breaks: 'A failure of a Synchronization is reported again and again.',
      },
      {
        find: 'if (!this.#pending.has(binding)) this.#pending.set(binding, { isWaitedFor: false, isLost: true });',
        replace: 'this.#pending.set(binding, { isWaitedFor: false, isLost: true });',
        breaks: 'It is forgotten that a run waits for a Synchronization.',
      },
      {
        find: 'if (!bindings.has(binding)) this.done(binding);',
        replace: 'void binding;',
        breaks: 'A run waits for ever for bindings that are gone.',
      },
      {
        find: 'every(({ isWaitedFor }) => !isWaitedFor)',
        replace: 'every(({ isWaitedFor }) => isWaitedFor)',
        breaks: 'Runs do not wait for Synchronizations.',
      },
    ],
  },
  {
    file: 'src/queues/task-router.ts',
    tests: ['src/queues/isolation.test.ts', 'src/operator/converge-modules.test.ts'],
    mutants: [
      {
        find: 'if (!this.#deps.registry.isEnabled(module)) return;',
        replace: '',
        breaks: 'A disabled module is run.',
      },
      {
        find: '&& !queue.isAtWork(entry) && isWanted(task)',
        replace: '&& isWanted(task)',
        breaks: 'A change during a run of the module is not applied.',
      },
      {
        find: 'if (isInterrupted) this.main.prepend(converge);\n    else ',
        replace: '',
        breaks: 'A converge that is started over comes after all other tasks.',
      },
      {
        find: "task.type === 'ModuleDelete' && started.has(task.module)",
        replace: "task.type === 'ModuleDelete' && !started.has(task.module)",
        breaks: 'A deletion that fails keeps a module from being enabled.',
      },
      {
        find: "this.#deps.converge.enter('standby');",
        replace: '',
        breaks: 'A converge that is started over continues in the middle.',
      },
      {
        find: '[...runs, ...this.held.take(runtimes)]',
        replace: 'runs',
        breaks: 'Held runs of removed hooks are run.',
      },
      {
        find: "this.#deps.converge.first !== 'done' || runtime.isStopped",
        replace: 'runtime.isStopped',
        breaks: 'Crontabs run hooks before the first converge is over.',
      },
      {
        find: '|| !runtime.areSchedulesEnabled)',
        replace: ')',
        breaks: 'Crontabs run hooks that are not enabled.',
      },
      {
        find: 'if (runtime.isSetAside) return false;',
        replace: '',
        breaks: 'Crontabs run hooks that are set aside.',
      },
      {
        find: 'if (!this.held.join(task)) appendToOwnQueue(this.#deps, task);',
        replace: 'appendToOwnQueue(this.#deps, task);',
        breaks: 'Events overtake a run of the hook that waits.',
      },
      { find: 'this.#deps.backlog.relieve();', replace: '', breaks: 'Events pile up without limit.' },
      { find: 'if (!this.isRunPending(module))', replace: '', breaks: 'Rechecks of a module pile up.' },
      {
        find: 'return this.#deps.registry.isDeletionPending(module) && !this.#isDeletionQueued(module);',
        replace: 'return this.#deps.registry.isDeletionPending(module);',
        breaks: 'A deletion is queued twice.',
      },
      {
        find: 'return count > (this.#atAbort.get(module) ?? count);',
        replace: 'return count > (this.#atAbort.get(module) ?? 0);',
        breaks: 'A module that was never aborted counts as changed since.',
      },
    ],
  },
  {
    file: 'src/operator/task-pipeline.ts',
    tests: ['src/queues/isolation.test.ts'],
    mutants: [
      {
        find: "if (holder !== undefined) return { type: 'repeat', when: holder };",
        replace: '',
        breaks: 'Two queues change one release at a time.',
      },
      {
        find: '      for (const module of modules) locked.delete(module);\n      resolve();',
        replace: '      resolve();',
        breaks: 'A module stays locked after its first run.',
      },
      {
        find: '      for (const module of modules) locked.delete(module);\n      resolve();',
        replace: '      for (const module of modules) locked.delete(module);',
        breaks: 'Tasks wait for ever for a module that is not locked any more.',
      },
      {
        find: " || task.type === 'ModuleEnsureCRDs')",
        replace: ')',
        breaks: 'CRDs are written while the module is deleted.',
      },
      {
        find: 'reconcile.skipsTask(attempt.entry.task) ? skipped({ journal }, attempt) : await next(attempt);',
        replace: 'await next(attempt);',
        breaks: 'Tasks of modules that are not authorized run.',
      },
      {
        find: 'deferIfPaused(operator, entry.task) ? skipped(operator, attempt) : await next(attempt);',
        replace: 'await next(attempt);',
        breaks: 'Paused modules run.',
      },
      {
        find: 'if (deferIfAway(operator, task)) return skipped(operator, attempt);',
        replace: '',
        breaks: 'Modules run that another operator runs.',
      },
      {
        find: '      rethrowAbort(error, signal);\n',
        replace: '',
        breaks: 'The stop of the operator counts as a failure.',
      },
      {
        find: '{ ...outcome, error: redactedError(outcome.error, redactor) }',
        replace: 'outcome',
        breaks: 'Queues show the content of Secrets in errors.',
      },
      {
        find: "operator.policy.failurePolicy === 'isolate' &&",
        replace: '',
        breaks: 'Modules are isolated although the policy is to block.',
      },
      {
        find: "journal.end(run, { result: 'aborted' });",
        replace: '',
        breaks: 'Runs that the stop ended are shown as running.',
      },
      {
        find: 'if (restart === undefined || attempt.signal.aborted) throw error;',
        replace: 'if (restart === undefined) throw error;',
        breaks: 'A hook is restarted after the stop of the operator.',
      },
    ],
  },
  {
    file: 'src/queues/isolation.ts',
    mutants: [
      {
        find: '|| isOwn(queue, task.module)) return false;',
        replace: ') return false;',
        breaks: 'An isolated task is isolated again.',
      },
      {
        find: 'if (!isPendingIn(target, task)) appendTo(',
        replace: 'appendTo(',
        breaks: 'Runs of an isolated module pile up.',
      },
      {
        find: "if (task.type === 'ModuleRun' || task.type === 'ModuleDelete') retryNow(target, task.module);",
        replace: '',
        breaks: 'A change of an isolated module waits for its retry.',
      },
      {
        find: 'queue.insertBefore(waitsFor(task), task);',
        replace: 'queue.append(task);',
        breaks: 'A run waits for a Synchronization behind it.',
      },
      {
        find: 'filter(({ isOptional }) => !isOptional))',
        replace: 'filter(({ isOptional }) => isOptional))',
        breaks: 'A module does not wait for the failing one that it requires.',
      },
      {
        find: "return other.type !== 'ModuleRun' || other.isRecheck !== true;",
        replace: 'return true;',
        breaks: 'A change is left to a recheck, which does not apply it.',
      },
    ],
  },
];
