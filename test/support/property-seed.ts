import { configureGlobal } from 'fast-check';

/** Property tests try the same examples in each run, so that none fails by chance. Others are tried with other seeds. */
const seed = Number(process.env['PROPERTY_SEED'] ?? 1);

configureGlobal({ seed });
