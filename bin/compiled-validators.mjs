// Compiles the schemas of hook configurations at build time, so that no daemon has to do it at each start.
import { join } from 'node:path';

/** A plugin of the bundler that fills `compiled-validators.ts`. @param source path of `src/hook-config` */
export function compiledValidators(source) {
  const file = join(source, 'compiled-validators.ts');
  return {
    name: 'compiled-validators',
    load: async (id) => (id === file ? { code: await validatorsCode(source), moduleType: 'js' } : undefined),
  };
}

async function validatorsCode(source) {
  const { default: standalone } = await import('ajv/dist/standalone/index.js');
  const { hookConfigAjv, schemasToCompile } = await import(join(source, 'hook-config-schemas.ts'));
  const ajv = hookConfigAjv({ source: true, esm: true });
  const schemas = schemasToCompile();
  for (const [name, schema] of schemas) ajv.addSchema(schema, name);
  const names = [...schemas.keys()];
  const code = standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name])));
  return `${code}\nexport const compiledValidators = { ${names.join(', ')} };\n`;
}
