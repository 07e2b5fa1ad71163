import { describeRules, file, type RuleRow, TEMPLATE } from '../../../../test/support/lint-rules.ts';
import { VALUES_RULES } from './values.ts';

const ROWS: readonly RuleRow[] = [
  {
    rule: 'value-undeclared',
    what: 'values of values.yaml, of a schema, of another section, and what may be absent',
    files: [
      file('openapi/values.yaml', 'properties:\n  size: {type: string}\n'),
      file(
        TEMPLATE,
        '{{ .Values.web.port }} {{ .Values.web.size }} {{ .Values.global.x }} {{ .Values.web.y | default 1 }}',
      ),
    ],
    parsed: { values: { port: 80 }, hookFiles: ['hooks/a.sh'] },
    found: [],
  },
  {
    rule: 'value-undeclared',
    what: 'values that hooks may set',
    files: [file(TEMPLATE, '{{ .Values.web.prot }}')],
    parsed: { hookFiles: ['hooks/a.sh'] },
    found: [],
  },
  {
    rule: 'value-undeclared',
    what: 'a misspelt value, named once',
    files: [file(TEMPLATE, '{{ .Values.web.prot }} {{ .Values.web.prot }}')],
    parsed: { values: { port: 80 } },
    found: [[TEMPLATE, 'uses .Values.web.prot, which neither values.yaml nor a schema has']],
  },
  {
    rule: 'secret-in-plain-text',
    what: 'references, placeholders, short strings and other keys',
    files: [file('values.yaml')],
    parsed: {
      values: { password: '<set it>', token: '${TOKEN}', apiKey: 'none', passwordFile: '/run/secret' },
    },
    found: [],
  },
  {
    rule: 'secret-in-plain-text',
    what: 'a password in a list, and a private key',
    files: [file('values.yaml', '-----BEGIN RSA PRIVATE KEY-----')],
    parsed: { values: { users: [{ dbPassword: 'hunter22' }] } },
    found: [
      ['values.yaml', 'has a private key'],
      ['values.yaml', 'users[0].dbPassword has a value in plain text'],
    ],
  },
];

describeRules(VALUES_RULES, ROWS, [
  'values-invalid',
  'schema-invalid',
  'default-violates-schema',
  'values-violate-schema',
]);
