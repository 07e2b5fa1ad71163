interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly names: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Bounds[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 6, names: DAYS },
];

const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const DURATION = /^[+-]?(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/;
const ZONE = /^(?:CRON_)?TZ=\S*\s*/;

/** The first problem of the schedule of a CronJob, in the words of the API server; undefined if it is right. */
export function cronProblem(text: string): string | undefined {
  const schedule = text.replace(ZONE, '').trim();
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length)
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  for (const [index, bounds] of FIELDS.entries()) {
    for (const range of (fields[index] ?? '').split(',').filter((part) => part !== '')) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.includes(text)) return undefined;
  const every = '@every ';
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  const duration = text.slice(every.length);
  return DURATION.test(duration)
    ? undefined
    : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
}

function rangeProblem(text: string, { low, high, names }: Bounds): string | undefined {
  const [range = '', stepText, ...moreSteps] = text.split('/');
  const [from = '', to, ...moreEnds] = range.split('-');
  let start = low;
  let end = high;
  if (from !== '*' && from !== '?') {
    const first = parseNumber(from, low, names);
    if (typeof first === 'string') return first;
    start = first;
    if (moreEnds.length > 0) return `too many hyphens: ${text}`;
    const last = to === undefined ? first : parseNumber(to, low, names);
    if (typeof last === 'string') return last;
    end = to === undefined && stepText !== undefined ? high : last;
  }
  if (moreSteps.length > 0) return `too many slashes: ${text}`;
  const step = stepText === undefined ? 1 : parseNumber(stepText, 0, []);
  if (typeof step === 'string') return step;
  if (start < low) return `beginning of range (${start}) below minimum (${low}): ${text}`;
  if (end > high) return `end of range (${end}) above maximum (${high}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return step === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** A number, or what is wrong with it. */
function parseNumber(text: string, first: number, names: readonly string[]): number | string {
  const index = names.indexOf(text.toLowerCase());
  if (index >= 0) return index + first;
  if (!/^[+-]?\d+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
