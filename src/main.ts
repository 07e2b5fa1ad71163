import { enableCompileCache } from 'node:module';
import { COMPILE_CACHE } from './own-code.ts';

// What V8 has compiled is kept beside the code, which halves the time of the next start. Where that cannot be written,
// is damaged or of another version, Node compiles as ever.
if (COMPILE_CACHE !== undefined) enableCompileCache(COMPILE_CACHE);

// Imported only now: what is imported above is compiled before the first line runs.
const { runProcess } = await import('./cli/run-process.ts');
await runProcess(process);
