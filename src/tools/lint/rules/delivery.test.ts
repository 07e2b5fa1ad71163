import { describeRules, file, type RuleRow } from '../../../../test/support/lint-rules.ts';
import { DELIVERY_RULES } from './manifest.ts';

const ROWS: readonly RuleRow[] = [
  { rule: 'version-missing', what: 'a version', module: { version: '1.2.0' }, found: [] },
  { rule: 'version-missing', what: 'no version', found: [['', 'has no version']] },
  {
    rule: 'version-missing',
    what: 'a version of two numbers',
    files: [file('Chart.yaml', 'version: 0.1\n')],
    found: [['Chart.yaml', 'has version 0.1, which is not semantic, such as 1.2.3']],
  },
  {
    rule: 'version-mismatch',
    what: 'one version, and a changelog that begins with a date',
    files: [file('Chart.yaml', 'version: "1.2.0"\n'), file('CHANGELOG.md', '# 2026\n')],
    module: { version: '1.2.0' },
    found: [],
  },
  {
    rule: 'version-mismatch',
    what: 'a chart and a changelog that are behind',
    files: [
      file('Chart.yaml', 'version: 1.1.0\n'),
      file('CHANGELOG.md', '# Changes\n\n## [v1.1.0] yesterday\n'),
    ],
    module: { version: '1.2.0' },
    found: [
      ['Chart.yaml', 'has version 1.1.0, module.yaml has 1.2.0'],
      ['CHANGELOG.md', 'begins with version 1.1.0, the module has 1.2.0'],
    ],
  },
];

describeRules(DELIVERY_RULES, ROWS, ['not-packable']);
