import { parseArgs } from 'node:util';
import { setup as buildProgram } from '../test/support/build-program.ts';
import { note } from './figures.ts';

const {
  positionals: chosen,
  values: { sizes, write: isWritten, only, shard },
} = parseArgs({
  allowPositionals: true,
  options: {
    /** For `scale`. */
    sizes: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    /** For `mutants`. */
    only: { type: 'string' },
    shard: { type: 'string' },
  },
});

const BENCHMARKS: Readonly<Record<string, () => Promise<void>>> = {
  hooks: async () => (await import('./hooks.ts')).benchHooks(),
  'in-process': async () => (await import('./in-process.ts')).benchInProcess(),
  extensions: async () => (await import('./extensions.ts')).benchExtensions(),
  events: async () => (await import('./events.ts')).benchEvents(),
  start: async () => (await import('./start.ts')).benchStart(),
  synchronisation: async () => (await import('./synchronisation.ts')).benchSynchronisation(),
  burst: async () => (await import('./burst.ts')).benchBurst(),
  'many-modules': async () => (await import('./many-modules.ts')).benchManyModules(),
  'module-objects': async () => (await import('./module-objects.ts')).benchModuleObjects(),
  backlog: async () => (await import('./backlog.ts')).benchBacklog(),
  soak: async () => (await import('./soak.ts')).benchSoak(),
  modules: async () => (await import('./modules.ts')).benchModules(),
  page: async () => (await import('./page.ts')).benchPage(),
  browser: async () => (await import('./browser.ts')).benchBrowser(),
  'saved-files': async () => (await import('./saved-files.ts')).benchSavedFiles(),
  'hook-tests': async () => (await import('./hook-tests.ts')).benchHookTests(),
  api: async () => (await import('./api.ts')).benchApi(),
  masking: async () => (await import('./masking.ts')).benchMasking(),
  observe: async () => (await import('./observe.ts')).benchObserve(),
  scale: async () => (await import('./scale.ts')).benchScale({ sizes, isWritten }),
  delivery: async () => (await import('./delivery.ts')).benchDelivery(),
  mutants: async () => (await import('./mutants.ts')).benchMutants({ only, shard }),
};

await buildProgram();
for (const [name, run] of Object.entries(BENCHMARKS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  note(`\n${name}`);
  await run();
}
