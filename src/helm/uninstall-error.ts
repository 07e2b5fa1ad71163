import { helmError } from './helm-process.ts';

/** What helm 3 and helm 4 say with `--debug` about a deletion that failed; without, they only say that it failed. */
const REASON = /uninstall: Failed to delete release(?:: ([\s\S]*?)\n(?=Error: )|" error=(.*))/;
/** helm 3 shows with `--debug` where in its code an error arose. */
const STACK = /^helm\.go:\d+: [\s\S]*$/m;

/** The error in what `helm uninstall --debug` wrote to stderr, with the reason for it. */
export function uninstallError(stderr: string): string {
  const error = helmError(stderr.replace(STACK, ''));
  const [, plain, quoted] = REASON.exec(stderr) ?? [];
  const reason = plain ?? (quoted === undefined ? undefined : unquoted(quoted));
  return reason === undefined ? error : `${error}: ${reason.replace(/^\[([\s\S]*)\]$/, '$1')}`;
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
