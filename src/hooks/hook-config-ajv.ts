import { Ajv } from 'ajv';

/** Compiles the schemas of what hooks say about themselves. They are our own, so nobody needs to check them at run time. */
export function hookConfigAjv(): Ajv {
  return new Ajv({
    allErrors: true,
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    // Optimizing a schema takes longer than all the validations it speeds up.
    code: { optimize: false },
  });
}
