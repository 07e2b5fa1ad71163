import { markdownTable } from '@addon-operator/strings/markdown-table';
import { onlyWithText, type Rule } from './rule.ts';
import { GROUPS, RULES } from './rules.ts';

const INTRO = `# Checking modules

\`addon-operator module lint\` checks modules before they come to a cluster: files, \`module.yaml\`, hooks, values and schemas, and what the chart renders to. It reads them with the parsers of the operator and renders charts with its helm, so the operator reads the modules in the same way later. It needs no cluster and changes nothing.

<!-- run: module-lint -->
\`\`\`sh
bin/addon-operator module lint modules
\`\`\`

An argument is a module or a directory of modules; without one the modules directories of the settings are checked. Hooks are run with \`--config\`, enabled scripts are not run.

| option | what it does |
|---|---|
| \`--fix\` | fixes modes of scripts and line ends |
| \`--rule CODE\` | checks only this rule; may be repeated. Some rules are checked only with this option |
| \`--profile restricted\` | checks the rules about [security](#security) too |
| \`--profile delivery\` | checks too whether \`module push\` accepts the module: see [delivery](#delivery) |
| \`--strict\` | warnings count as errors |
| \`--explain CODE\` | prints the section of a rule on this page |
| \`-o text\`, \`json\`, \`sarif\`, \`junit\`, \`github\` | the format; \`github\` is annotations of a workflow |

The exit code is 1 if there are errors, or if modules cannot be checked, else 0.

If a module has files \`tests/values/*.yaml\`, its chart is also rendered with each of them. They have the form of the [ConfigMap](values.md): a key for the module, and \`global\`.

If a finding is intended, exclude it in \`.module-lint.yaml\` in the directory of the module, always with the reason:

\`\`\`yaml
exclude:
- rule: watches-all-secrets
  path: hooks/copy.sh
  reason: copies Secrets between all namespaces
\`\`\`

\`path\` is a file, or a directory with \`/\` at the end; \`object\` is a rendered object as findings name it.
`;

/** The page about the rules: a table, then a section for each rule. */
export function rulesPage(): string {
  const table = markdownTable(
    ['rule', 'level', 'what it requires'],
    RULES.map((rule) => [`[${rule.code}](#${rule.code})`, levelOf(rule), rule.summary]),
  );
  const groups = GROUPS.map(({ title, rules }) => `## ${title}\n\n${rules.map(section).join('\n')}`);
  return `${INTRO}\n## All rules\n\n${table}\n${groups.join('\n')}`;
}

function section(rule: Rule): string {
  return `### ${rule.code}\n\n${rule.summary} (${levelOf(rule)})\n\n${rule.explanation}\n`;
}

function levelOf(rule: Rule): string {
  return `${rule.level}${onlyWithText(rule, '`')}`;
}
