/** Rules about names, keys and ports. Each returns what is wrong with a value, nothing if it is right. */
export type NameRule = (value: string) => readonly string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const PERCENT = '[0-9]+%';
const HEADER = '[-A-Za-z0-9]+';

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;

function tooLong(limit: number): string {
  return `must be no more than ${limit} characters`;
}

function patternProblem(what: string, pattern: string, examples: readonly string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${what} (e.g. ${list}regex used for validation is '${pattern}')`;
}

function matches(pattern: string, value: string): boolean {
  return new RegExp(`^${pattern}$`).test(value);
}

/** Length first, then the pattern. */
function patternRule(pattern: string, limit: number, what: string, examples: readonly string[]): NameRule {
  const expression = new RegExp(`^${pattern}$`);
  const problem = patternProblem(what, pattern, examples);
  return (value) => [
    ...(Buffer.byteLength(value) > limit ? [tooLong(limit)] : []),
    ...(expression.test(value) ? [] : [problem]),
  ];
}

export const dnsSubdomain = patternRule(
  SUBDOMAIN,
  MAX_SUBDOMAIN,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
);

const plainLabel = patternRule(
  LABEL,
  MAX_LABEL,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
);

export const dnsLabel: NameRule = (value) => {
  const problems = plainLabel(value);
  const isSubdomain = matches(SUBDOMAIN, value);
  return problems.map((problem) =>
    isSubdomain && !problem.startsWith('must be') ? 'must not contain dots' : problem,
  );
};

export const dns1035Label = patternRule(
  DNS_1035,
  MAX_LABEL,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
);

export const wildcardSubdomain = patternRule(
  `\\*\\.${SUBDOMAIN}`,
  MAX_SUBDOMAIN,
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  ['*.example.com'],
);

export const labelValue = patternRule(
  LABEL_VALUE,
  MAX_LABEL,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
);

const QUALIFIED_PROBLEM =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** The key of a label, a finalizer, a condition: a name with an optional domain before a slash. */
export const qualifiedName: NameRule = (value) => {
  const examples = ['MyName', 'my.name', '123-abc'];
  const parts = value.split('/');
  if (parts.length > 2)
    return [
      `a qualified name ${patternProblem(QUALIFIED_PROBLEM, QUALIFIED_NAME, examples)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) problems.push(...dnsSubdomain(prefix).map((text) => `prefix part ${text}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > MAX_LABEL) problems.push(`name part ${tooLong(MAX_LABEL)}`);
  if (!matches(QUALIFIED_NAME, name))
    problems.push(`name part ${patternProblem(QUALIFIED_PROBLEM, QUALIFIED_NAME, examples)}`);
  return problems;
};

/** A key of a ConfigMap or Secret, which becomes the name of a file. */
export const configKey: NameRule = (value) => [
  ...patternRule(
    CONFIG_KEY,
    MAX_SUBDOMAIN,
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    ['key.name', 'KEY_NAME', 'key-name'],
  )(value),
  ...parentDirectory(value),
];

function parentDirectory(value: string): readonly string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

export const envName: NameRule = (value) =>
  /^[\x20-\x3c\x3e-\x7e]*$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

export const percent = patternRule(
  PERCENT,
  Number.POSITIVE_INFINITY,
  "a valid percent string must be a numeric string followed by an ending '%'",
  ['1%', '93%'],
);

export const headerName = patternRule(
  HEADER,
  Number.POSITIVE_INFINITY,
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  ['X-Header-Name'],
);

const MAX_PORT_NAME = 15;

export const portName: NameRule = (value) => [
  ...(value.length > MAX_PORT_NAME ? [tooLong(MAX_PORT_NAME)] : []),
  ...(/^[-a-z0-9]+$/.test(value)
    ? []
    : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(value) ? [] : ['must contain at least one letter (a-z)']),
  ...(value.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(/^-|-$/.test(value) ? ['must not begin or end with a hyphen'] : []),
];

export function inRange(value: number, low: number, high: number): readonly string[] {
  return value >= low && value <= high ? [] : [`must be between ${low} and ${high}, inclusive`];
}

export function portNumber(value: number): readonly string[] {
  return inRange(value, 1, 65_535);
}

/** A name that is a segment of a URL and nothing more. */
export const pathSegment: NameRule = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((sign) => value.includes(sign)).map((sign) => `may not contain '${sign}'`);
};
