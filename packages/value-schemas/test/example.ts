import { parseCelRules } from '@addon-operator/value-schemas/cel-rules';
import { SchemaCheck } from '@addon-operator/value-schemas/schema-check';
import { closeObjects } from '@addon-operator/value-schemas/transform-schema';
import { ValuesSchema } from '@addon-operator/value-schemas/values-schema';

const schema = closeObjects({
  type: 'object',
  properties: {
    replicas: { type: 'integer', minimum: 1, default: 2 },
    host: { type: 'string', pattern: '^[a-z.]+$' },
  },
  'x-deckhouse-validations': [
    { expression: "!has(self.host) || self.host != 'localhost'", message: 'host must be reachable' },
  ],
});
const values = ValuesSchema.parse(schema, new SchemaCheck(), parseCelRules);

console.log(values.withDefaults({ host: 'web.example' }));
console.log(values.problems('web', { replicas: 0, hots: 'web.example' }));
console.log(values.problems('web', { host: 'localhost' }));
