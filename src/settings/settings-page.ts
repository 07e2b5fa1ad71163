import { markdownTable } from '../lib/markdown-table.ts';
import { REFUSED_VARIABLES, SETTINGS } from '../settings.ts';
import type { Setting } from './setting.ts';

/** The page `docs/settings.md`, made from the settings table. */
export function settingsPage(): string {
  const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const visible = rows.filter(({ flag, isHidden }) => flag !== undefined && isHidden !== true);
  const hidden = rows.filter(({ isHidden }) => isHidden === true);
  const variables = rows.filter(({ flag }) => flag === undefined);
  return `# Settings

This page is generated from \`src/settings.ts\`.

A flag beats its environment variables; of several variables the first that is set wins; a variable that is set but empty
counts as not set. The flags belong to \`addon-operator start\` and are accepted without the word \`start\` as well.
A wrong value ends the start with exit code 1 and one line \`configuration error: …\` for each mistake.
Durations are written as in Go: \`90s\`, \`20m\`, \`1h30m\`.

## Flags

${table(visible)}
## Flags for debugging

\`addon-operator --help\` leaves these out, \`addon-operator debug-options\` lists them.

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
Helm 2 is gone: the start is refused when one of these is set: ${REFUSED_VARIABLES.map(code).join(', ')}.
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

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}
