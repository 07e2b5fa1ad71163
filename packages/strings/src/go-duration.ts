const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3, // U+00B5, the micro sign
  μs: 1e3, // U+03BC, the Greek letter
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
};

const WHOLE = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const MAX_NANOSECONDS = 2 ** 63;
const NS_PER_MS = 1e6;

/**
 * Parses a duration as Go writes it (`1h30m`, `1.5s`, `300ms`, `-2m`, `0`).
 *
 * @returns milliseconds, with a fraction for what is shorter; `undefined` when the text is no Go duration or
 * exceeds Go's range of about 292 years
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (!WHOLE.test(text)) return undefined;
  let nanoseconds = 0;
  for (const [, amount, unit] of text.matchAll(PART))
    nanoseconds += Number(amount) * (NANOSECONDS[unit ?? ''] ?? Number.NaN);
  if (!(nanoseconds < MAX_NANOSECONDS)) return undefined;
  return (text.startsWith('-') ? -nanoseconds : nanoseconds) / NS_PER_MS;
}

/** Writes milliseconds as Go prints a duration: `20m0s`, `1.5s`, `300ms`, `0s`. */
export function formatGoDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  const sign = durationMs < 0 ? '-' : '';
  const ms = Math.abs(durationMs);
  if (ms < 0.001) return `${sign}${Math.round(ms * 1e6)}ns`;
  if (ms < 1) return `${sign}${rounded(ms * 1e3, 3)}µs`;
  if (ms < 1_000) return `${sign}${rounded(ms, 6)}ms`;
  const wholeSeconds = Math.floor(ms / 1_000);
  const seconds = rounded((wholeSeconds % 60) + (ms - wholeSeconds * 1_000) / 1_000, 9);
  const minutes = Math.floor(wholeSeconds / 60);
  if (minutes === 0) return `${sign}${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return `${sign}${hours === 0 ? '' : `${hours}h`}${minutes % 60}m${seconds}s`;
}

/** Without trailing zeros. */
function rounded(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
