import { OperatorError } from '@addon-operator/base/errors';
import { dumpYaml, parseYaml } from '@addon-operator/yaml';

const text = `mode: 0o644
uid: 9007199254740993
day: 2024-01-02
ports: [
  80,
443
]
`;
const options = { source: 'values.yaml', booleans: 'yaml-1.1' } as const;
const { value } = parseYaml(text, options);
console.log(JSON.stringify(value));
console.log(dumpYaml({ name: 'web', on: true }, 2).trimEnd());

try {
  parseYaml('a: 1\na: 2\n', options);
} catch (error) {
  if (error instanceof OperatorError) console.log(error.message);
}
