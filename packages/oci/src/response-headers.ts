/** A scheme that a registry accepts, and its parameters with names in lower case. */
export interface Challenge {
  /** In lower case: `basic`, `bearer`. */
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const MS_PER_SECOND = 1_000;
/** A registry that asks for more is asked again after so long. */
export const MAX_RETRY_AFTER_MS = 3_600_000;

/** A word, and its value if it is a parameter (RFC 9110, 11.6.1). */
const PART = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/y;

/** The challenges of a header WWW-Authenticate; several headers are joined by commas. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  const part = new RegExp(PART);
  for (let match = part.exec(header); match !== null; match = part.exec(header)) {
    const [, word = '', quoted, plain] = match;
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
    if (value === undefined) challenges.push({ scheme: word.toLowerCase(), parameters: {} });
    else {
      const { parameters } = challenges.at(-1) ?? { parameters: {} };
      Object.defineProperty(parameters, word.toLowerCase(), { value, enumerable: true, configurable: true });
    }
  }
  return challenges;
}

/**
 * Milliseconds that a header Retry-After asks to wait, at most an hour; undefined where it says neither seconds nor a date.
 *
 * @param wallNowMs what the date is compared with
 */
export function retryAfterMs(header: string | undefined, wallNowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  const dateMs = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  const ms = /^\d+$/.test(text) ? Number(text) * MS_PER_SECOND : dateMs - wallNowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** The address of the next page in a header Link, if there is one. */
export function nextPage(header: string | undefined, page: URL): URL | undefined {
  for (const link of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const [, target = '', parameters = ''] = link;
    const isNext = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)/i.test(parameters);
    if (isNext && URL.canParse(target, page.href)) return new URL(target, page);
  }
  return undefined;
}
