/** Generates `docs/settings.md` from the tables of settings; `test/checks` compares the file with it. */

import { markdownTable } from '@addon-operator/strings/markdown-table';
import { REFUSED_VARIABLES, SETTINGS } from '../settings.ts';
import type { Setting } from './setting.ts';

/** The page `docs/settings.md`, made from the settings table. */
export function settingsPage(): string {
  const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const visible = rows.filter(({ flag, isHidden }) => flag !== undefined && isHidden !== true);
  const hidden = rows.filter(({ isHidden }) => isHidden === true);
  const variables = rows.filter(({ flag }) => flag === undefined);
  return `# Settings

This page lists all flags and environment variables of \`addon-operator start\`. It is generated from \`src/settings.ts\`.

- A flag overrides its environment variables. Of several variables the first one that is set is used. An empty variable counts as not set.
- The word \`start\` may be omitted.
- An invalid value fails the start with exit code 1 and one line \`configuration error: …\` for each mistake.
- Durations have the syntax of Go: \`90s\`, \`20m\`, \`1h30m\`.

## Flags

${table(visible)}
## Flags for debugging

\`addon-operator help flags\` does not list these; \`addon-operator debug-options\` does.

${table(hidden)}
## Variables without a flag

${markdownTable(
  ['Variable', 'Default', 'Accepted', 'Meaning'],
  variables.map(({ env, type, default: initial, help }) => [
    code(env[0] ?? ''),
    code(initial),
    type.accepted,
    help,
  ]),
)}
Helm 2 is not supported: the start fails if one of these variables is set: ${REFUSED_VARIABLES.map(code).join(', ')}.
`;
}

function table(rows: readonly Setting<unknown>[]): string {
  return markdownTable(
    ['Flag', 'Variables', 'Default', 'Accepted', 'Meaning'],
    rows.map(({ flag, env, type, default: initial, help }) => [
      code(`--${flag}`),
      env.map(code).join('<br>'),
      code(initial),
      type.accepted,
      help,
    ]),
  );
}

function code(content: string): string {
  return content === '' ? '' : `\`${content}\``;
}
