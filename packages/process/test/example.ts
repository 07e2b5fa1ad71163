import { systemClock } from '@addon-operator/base/clock';
import { silentLogger } from '@addon-operator/base/log';
import { startLauncher } from '@addon-operator/process/launcher';

const launcher = await startLauncher({ log: silentLogger, clock: systemClock });
const shell = (script: string) => ({
  file: '/bin/sh',
  args: ['-c', script],
  cwd: '/',
  env: { PATH: '/usr/bin:/bin' },
  graceMs: 1_000,
});
const never = new AbortController().signal;

const onLine = (stream: string, line: string): void => console.log(`${stream}: ${line}`);
const failed = await launcher.run({ ...shell('echo hello; exit 3'), onLine }, never);
console.log(failed.outcome);

// Its child is ended too.
const late = await launcher.run({ ...shell('sleep 60 & wait'), timeoutMs: 200 }, never);
console.log(late.outcome);

await launcher.stop();
