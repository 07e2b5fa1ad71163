import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { API_SCHEMAS } from '../../src/server/api/schemas.ts';

// `npx vitest run --project unit test/checks/api-schemas.test.ts -u` writes the files anew.
test.each(Object.entries(API_SCHEMAS))(
  'docs/schema/api has the schema of %s, and it is valid',
  async (name, schema) => {
    expect(new Ajv().validateSchema(schema)).toBe(true);
    const text = `${JSON.stringify(schema, undefined, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`../../docs/schema/api/${name}.schema.json`);
  },
);
