import type { ValidateFunction } from 'ajv';

/**
 * Validators of hook configurations by `<version>_<scope>`. `bin/compiled-validators.mjs` puts them here in the built
 * program. Undefined when it runs from sources.
 */
export const compiledValidators: Readonly<Record<string, ValidateFunction>> | undefined = undefined;
