import {
  binary,
  describeRules,
  file,
  type RuleRow,
  script,
  TEMPLATE,
} from '../../../../test/support/lint-rules.ts';
import { LAYOUT_RULES } from './layout.ts';

const ROWS: readonly RuleRow[] = [
  { rule: 'number-missing', what: 'a number', found: [] },
  { rule: 'number-missing', what: 'a weight', directoryName: 'web', manifest: { weight: 5 }, found: [] },
  {
    rule: 'number-missing',
    what: 'neither',
    directoryName: 'web',
    found: [
      [
        '',
        'web has no number, so the setting for unnumbered modules decides when it runs: rename it, such as to 030-web',
      ],
    ],
  },
  {
    rule: 'unknown-file',
    what: 'names that are known, hidden, documents, below a directory, or read by a template',
    files: [
      file('values.yaml'),
      file('.helmignore'),
      file('UPGRADE.md'),
      file('files/any.conf'),
      file('web.conf'),
      file('templates/a.yaml', '{{ .Files.Get "web.conf" }}'),
    ],
    found: [],
  },
  {
    rule: 'unknown-file',
    what: 'a misspelt name',
    files: [file('value.yaml')],
    found: [['value.yaml', 'is not used by the operator (did you mean "values.yaml"?)']],
  },
  {
    rule: 'hook-not-executable',
    what: 'an executable script, a library and a file without #!',
    files: [script('hooks/a.sh'), file('hooks/lib/b.sh', '#!/bin/sh\n'), file('hooks/c.sh', 'x=1\n')],
    parsed: { hookFiles: ['hooks/a.sh'], unusedFiles: [] },
    found: [],
  },
  {
    rule: 'hook-not-executable',
    what: 'a script that is not executable',
    files: [file('hooks/a.sh', '#!/bin/sh\n')],
    parsed: { unusedFiles: ['hooks/a.sh'] },
    found: [['hooks/a.sh', 'is a script, but not executable, so it is never run: chmod +x']],
  },
  {
    rule: 'hook-ignored',
    what: 'a hook, and a file that git keeps',
    files: [script('hooks/a.sh'), file('hooks/.gitkeep')],
    parsed: { hookFiles: ['hooks/a.sh'] },
    found: [],
  },
  {
    rule: 'hook-ignored',
    what: 'an executable file whose name is skipped',
    files: [script('hooks/.a.sh')],
    found: [['hooks/.a.sh', 'is never run, because files with such a name are skipped: rename it']],
  },
  {
    rule: 'script-text',
    what: 'Unix line ends',
    files: [script('enabled')],
    found: [],
  },
  {
    rule: 'script-text',
    what: 'DOS line ends and a byte order mark',
    files: [script('enabled', '#!/bin/sh\r\n'), script('hooks/a.sh', '\u{FEFF}#!/bin/sh\n')],
    found: [
      ['enabled', 'has DOS line ends, so it cannot be run'],
      ['hooks/a.sh', 'begins with a byte order mark, so it cannot be run'],
    ],
  },
  {
    rule: 'shebang',
    what: 'an absolute path, a binary, and a file that is no hook',
    files: [script('enabled'), binary('hooks/a', 10, true), script('hooks/lib.sh', 'x=1\n')],
    parsed: { hookFiles: ['hooks/a'] },
    found: [],
  },
  {
    rule: 'shebang',
    what: 'a relative path',
    files: [script('enabled', '#!sh\n')],
    found: [
      [
        'enabled',
        'is an executable text without #! and an absolute path in its first line: write #!/usr/bin/env bash, or the like',
      ],
    ],
  },
  {
    rule: 'jq-removed',
    what: 'a variable with such a name, and a comment',
    files: [script('hooks/a.sh', '#!/bin/sh\njq --arg leaf_paths 1 .\n# jq --argfile\n')],
    found: [],
  },
  {
    rule: 'jq-removed',
    what: 'an option that is gone',
    files: [script('hooks/a.sh', '#!/bin/sh\njq --argfile a b .\n')],
    found: [['hooks/a.sh', 'line 2 uses --argfile, which jq 1.8 of the image does not have']],
  },
  { rule: 'too-big', what: '256 MiB', files: [file('a', '', { sizeBytes: 256 * 1024 * 1024 })], found: [] },
  {
    rule: 'too-big',
    what: 'a byte more',
    files: [file('a', '', { sizeBytes: 256 * 1024 * 1024 + 1 })],
    found: [['', 'has 1 files with 256 MiB']],
  },
  {
    rule: 'helmignore-hides-templates',
    what: 'a chart of bare templates, for which the file does not count',
    files: [file('.helmignore', 'a.yaml\n'), file(TEMPLATE)],
    module: { chart: 'templates-only' },
    found: [],
  },
  {
    rule: 'helmignore-hides-templates',
    what: 'a pattern that matches a template',
    files: [file('.helmignore', '# notes\na.yaml\n'), file(TEMPLATE)],
    module: { chart: 'chart-yaml' },
    found: [['.helmignore', 'leaves out templates/a.yaml, so helm does not render it']],
  },
];

describeRules(LAYOUT_RULES, ROWS, ['module-name', 'link-leads-out']);
