import { messageOf } from '../lib/errors.ts';
import { parseGoDuration } from '../lib/go-duration.ts';

/** Checks of parts of a configuration that other rooms know about; each throws an Error with the reason. */
export interface BindingChecks {
  readonly crontab: (expression: string) => void;
  readonly jqFilter: (program: string) => Promise<void>;
}

/** `version` or `group/version`. */
export const API_VERSION = /^([a-z0-9.-]+\/)?[a-z0-9]+$/i;

/** What `check` throws, with `prefix` in front; nothing where it throws nothing. */
export async function problemsOf(prefix: string, check: () => unknown): Promise<readonly string[]> {
  try {
    await check();
    return [];
  } catch (error) {
    return [`${prefix}: ${messageOf(error)}`];
  }
}

/** @throws Error when the text is no duration */
export function durationMs(text: string): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) throw new Error(`'${text}' is not a duration such as 30s or 1h30m`);
  return ms;
}

/** An empty text means the same as none. */
export function given(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
