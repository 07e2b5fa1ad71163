/**
 * How strings of flags and variables become values. A type has a parser, a placeholder for the help and the words for the
 * error message. A parser returns undefined for what it does not accept, and never throws. `read-settings.ts` calls it.
 */

import { isIP } from 'node:net';
import { parseGoDuration } from '@addon-operator/strings/go-duration';

/** How the text of a flag or variable becomes a value. */
export interface SettingType<T> {
  /** Placeholder in the help, such as `duration`. */
  readonly placeholder: string;
  /** The accepted values, in words that complete "accepted: …". */
  readonly accepted: string;
  /** The value, or `undefined` when the text is not accepted. */
  readonly parse: (input: string) => T | undefined;
}

/** Any string, the empty one included. */
export const textType: SettingType<string> = {
  placeholder: 'text',
  accepted: 'any text',
  parse: (input) => input,
};

/** The words that Go's `strconv.ParseBool` accepts; users of the original write them. */
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** The boolean words of Go. */
export const booleanType: SettingType<boolean> = {
  placeholder: 'bool',
  accepted: '1, t, true, 0, f, false',
  parse: (input) => (TRUE_WORDS.has(input) ? true : FALSE_WORDS.has(input) ? false : undefined),
};

/** On only for exactly this word; every other text is off. */
export function onlyWordType(word: string): SettingType<boolean> {
  return { placeholder: 'text', accepted: `${word} switches it on`, parse: (input) => input === word };
}

/** Off only for exactly this word; every other text is on. */
export function exceptWordType(word: string): SettingType<boolean> {
  return { placeholder: 'text', accepted: `${word} switches it off`, parse: (input) => input !== word };
}

/** A whole number between two bounds. */
export function integerType(min: number, max: number): SettingType<number> {
  return {
    placeholder: 'number',
    accepted: `a whole number from ${min} to ${max}`,
    parse: (input) => {
      const value = /^[-+]?\d+$/.test(input) ? Number(input) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

/** Whole numbers that the Go original keeps in 32 bits. */
export const countType = integerType(0, 2 ** 31 - 1);
/** A TCP port; 0 lets the system choose one. */
export const portType = integerType(0, 65_535);

/** A rate per second, 0 for no limit; fractions are fine. */
export const rateType: SettingType<number> = {
  placeholder: 'number',
  accepted: 'a number from 0',
  parse: (input) => {
    const value = /^\+?(\d+\.?\d*|\.\d+)$/.test(input) ? Number(input) : Number.NaN;
    return Number.isFinite(value) ? value : undefined;
  },
};

/** A Go duration that is not negative; the value is in milliseconds. */
export const durationType: SettingType<number> = {
  placeholder: 'duration',
  accepted: 'a duration such as 90s, 20m or 1h30m',
  parse: (input) => {
    const ms = parseGoDuration(input);
    return ms !== undefined && ms >= 0 ? ms : undefined;
  },
};

/** Non-empty items between separators. */
export function listType(separator: string, placeholder: string): SettingType<readonly string[]> {
  return {
    placeholder,
    accepted: `items separated by "${separator}"`,
    parse: (input) =>
      input
        .split(separator)
        .map((item) => item.trim())
        .filter((item) => item !== ''),
  };
}

/** Networks as `address/bits`, separated by commas; an address alone is a network of one. */
export const networksType: SettingType<readonly string[]> = {
  placeholder: 'list',
  accepted: 'networks such as 10.0.0.0/8 or fd00::/8, separated by ","',
  parse: (input) => {
    const networks = listType(',', 'list')
      .parse(input)
      ?.map((item) => (isIP(item) === 0 ? item : `${item}/${isIP(item) === 4 ? 32 : 128}`));
    return networks?.every(isNetwork) === true ? networks : undefined;
  },
};

function isNetwork(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** A name of an HTTP header. */
export const headerNameType: SettingType<string> = {
  placeholder: 'header',
  accepted: 'the name of a header',
  parse: (input) => (/^[A-Za-z0-9-]+$/.test(input) ? input : undefined),
};

/** `key=value` pairs separated by commas. */
const labelsType: SettingType<Readonly<Record<string, string>>> = {
  placeholder: 'labels',
  accepted: 'key=value pairs separated by commas',
  parse: (input) => {
    const pairs = input.split(',').filter((pair) => pair.trim() !== '');
    const labels: Record<string, string> = Object.create(null);
    for (const pair of pairs) {
      const [, key, value] = /^\s*([^=\s]+)=(.*?)\s*$/.exec(pair) ?? [];
      if (key === undefined || value === undefined) return undefined;
      labels[key] = value;
    }
    return labels;
  },
};

/** `key=value` pairs separated by commas, and besides those of `always` whose keys are not among them. */
export function labelsWith(
  always: Readonly<Record<string, string>>,
): SettingType<Readonly<Record<string, string>>> {
  return {
    ...labelsType,
    parse: (input) => {
      const given = labelsType.parse(input);
      // Without a prototype, as the given ones: a label may be named `__proto__`.
      const labels: Record<string, string> = Object.create(null);
      return given && Object.assign(labels, always, given);
    },
  };
}

/** One of a few words, in any case. An unknown word becomes `fallback` where one is given. */
export function wordType<const W extends string>(words: readonly W[], fallback?: W): SettingType<W> {
  return {
    placeholder: 'word',
    accepted: words.join(', '),
    parse: (input) => words.find((word) => word === input.toLowerCase()) ?? fallback,
  };
}

/** The beginning of Prometheus metric names. */
export const metricPrefixType: SettingType<string> = {
  placeholder: 'text',
  accepted: 'letters, digits, "_" and ":" (not starting with a digit)',
  parse: (input) => (/^(?:[a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(input) ? input : undefined),
};

/** Nothing, or an https URL of a host alone. */
export const webhookUrlType: SettingType<string> = {
  placeholder: 'URL',
  accepted: 'an https URL without a path',
  parse: (input) =>
    input === '' || (/^https:\/\/[^/?#@]+\/?$/.test(input) && URL.canParse(input)) ? input : undefined,
};
