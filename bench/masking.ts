import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@addon-operator/base/clock';
import { createLogger } from '@addon-operator/logging/json-logger';
import { redactedLog } from '@addon-operator/logging/redacted-log';
import { Redactor } from '@addon-operator/masking/redactor';
import { percentile, report } from './figures.ts';

const SECRETS = 10_000;
const LOG_BYTES = 1_000_000;
const ROUNDS = 15;
const WARM_UPS = 5;
const MB = 1_000_000;

type Line = (index: number) => string;

/** Lines that hooks print, and how many times the CPU time without secrets they may take. */
const LOGS: readonly (readonly [name: string, line: Line, maxRatio: number])[] = [
  [
    'text',
    (index) => `2026-05-01T10:00:00Z INFO pod web-${index} is ready, 3 of 3 replicas are up to date`,
    15,
  ],
  [
    'URLs and JSON within JSON',
    (index) =>
      `GET /pods/${index}?labelSelector=app%3Dweb&a=b+c ${JSON.stringify({ log: JSON.stringify({ msg: 'a "quoted"\nline', index }) })}`,
    40,
  ],
  ['beginnings of the secrets', (index) => `a password with number none, ${index} times`, 30],
];

/** What it takes to log 1 MB while 10,000 secrets are known, against the same log without any; and what they take themselves. */
export async function benchMasking(): Promise<void> {
  const secrets = Array.from({ length: SECRETS }, (_, index) =>
    // Half of them have their beginning in common.
    index % 2 === 0
      ? `a password with number ${index}`
      : `${index}${Buffer.from(`${index * index}`).toString('hex')}`,
  );
  const [one, many, none] = [new Redactor(), new Redactor(), new Redactor()];
  one.add('correct-horse-battery');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage();
  const addedMs = tookMs(() => {
    for (const secret of secrets) many.add(secret);
  });
  collect();
  const after = process.memoryUsage();
  const usedBytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  report(
    'masking: memory of 10,000 secrets',
    `${(usedBytes / MB).toFixed(1)} MB`,
    '40 MB',
    usedBytes / MB / 40,
    '<= 1',
  );
  report('masking: adding 10,000 secrets', `${addedMs.toFixed(0)} ms`, '1000 ms', addedMs / 1_000, '<= 1');
  for (const [name, line, maxRatio] of LOGS) {
    const lines = linesOf(line);
    const [withNone, withOne, withMany] = medians([none, one, many], (redactor) => logAll(redactor, lines));
    if (withNone === undefined || withOne === undefined || withMany === undefined) continue;
    const reference = `${withNone.toFixed(1)} ms`;
    report(
      `masking: 1 MB of ${name}, one secret`,
      `${withOne.toFixed(1)} ms`,
      reference,
      withOne / withNone,
      `<= ${maxRatio}`,
    );
    report(
      `masking: 1 MB of ${name}, 10,000 secrets`,
      `${withMany.toFixed(1)} ms`,
      reference,
      withMany / withNone,
      `<= ${maxRatio}`,
    );
  }
}

function linesOf(line: Line): readonly string[] {
  const lines: string[] = [];
  for (let bytes = 0; bytes < LOG_BYTES; bytes += lines.at(-1)?.length ?? 0) lines.push(line(lines.length));
  return lines;
}

/** As the operator logs what hooks print. */
function logAll(redactor: Redactor, lines: readonly string[]): void {
  const output = { write: () => undefined, close: async () => undefined };
  const root = createLogger({ level: 'info', type: 'json', hasTime: true, clock: systemClock, output });
  const log = redactedLog(root, redactor).child({ module: 'web', hook: 'hooks/hook.sh', output: 'stdout' });
  for (const line of lines) log.info({}, line);
}

/** CPU times of the cases, in turn. */
function medians<Case>(cases: readonly Case[], act: (each: Case) => void): readonly number[] {
  const rounds = Array.from({ length: WARM_UPS + ROUNDS }, () =>
    cases.map((each) => tookMs(() => act(each))),
  );
  return cases.map((_, index) =>
    percentile(
      rounds.slice(WARM_UPS).map((times) => times[index] ?? 0),
      0.5,
    ),
  );
}

function tookMs(act: () => void): number {
  const start = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
