import { note } from './figures.ts';

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
};

const chosen = process.argv.slice(2);
for (const [name, run] of Object.entries(BENCHMARKS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  note(`\n${name}`);
  await run();
}
