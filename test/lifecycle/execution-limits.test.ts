import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const OUTPUT_BYTES = 1_000_000_000;
const LIMIT_BYTES = 1_000_000;
const MEMORY_BYTES = 200 * 1024 * 1024;
const ONE_MIB = 1024 * 1024;
/** Reads into fresh memory cost 100 MiB and more; what else the process does meanwhile, on a busy machine, more than 20. */
const MOST_MIB = 64;

/** A global hook that runs at start. */
const atStart = (body: string): { readonly 'a.sh': string } => ({ 'a.sh': shHook('onStartup: 1', body) });
const nodeHook = (script: string): string =>
  shHook('onStartup: 1', `exec '${process.execPath}' -e '${script}'`);

/** The value of a metric about the runs of one global hook. */
async function measured(world: World, name: string, hook: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${world.daemon.httpPort}/metrics`);
  const lines = (await response.text()).split('\n');
  const line = lines.find((each) => each.startsWith(`addon_operator_global_hook_run_${name}{hook="${hook}"`));
  return Number(line?.split(' ').at(-1));
}

/** What a run may use and see; point 8 of the hook contract's issue, faults E4, E5 and E21. */
describeApiIndependent((backend) => {
  describe('a hook run', () => {
    test('that prints 1 GB uses little memory and logs one truncated stream of records', async () => {
      await using world = await World.create(backend(), {
        flags: { 'hook-output-limit': String(LIMIT_BYTES) },
        globalHooks: atStart(
          `echo first; head -c ${OUTPUT_BYTES} /dev/zero | tr '\\0' x; echo; echo last >&2`,
        ),
      });
      await world.start();
      await world.log.untilPrinted('first');
      let peakBytes = 0;
      const before = process.memoryUsage.rss();
      const sampling = setInterval(() => {
        peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
      }, 20);
      await world.daemon.firstConverge;
      clearInterval(sampling);
      const [first, ...pieces] = world.log.printed;
      expect(first).toBe('first');
      expect(pieces.length).toBe(Math.ceil((LIMIT_BYTES - 'first\n'.length) / (64 * 1024)));
      expect(world.log.records).toContainEqual(
        expect.objectContaining({
          msg: 'hook output is truncated',
          hook: 'a.sh',
          limitBytes: LIMIT_BYTES,
          truncatedBytes: 'first\n'.length + OUTPUT_BYTES + '\n'.length + 'last\n'.length - LIMIT_BYTES,
        }),
      );
      expect((peakBytes - before) / ONE_MIB).toBeLessThan(MOST_MIB);
    });

    test('logs JSON over several lines as one record, and text that only looks like JSON as text', async () => {
      await using world = await World.create(backend(), {
        globalHooks:
          atStart(`printf '{\\n  "level": "warn",\\n  "msg": "pretty",\\n  "hook": {"a": [1]}\\n}\\n'
printf '{ no json\\nnext\\n{\\n"open": 1\\n'`),
      });
      await world.converge();
      expect(world.log.printed).toEqual(['pretty', '{ no json', 'next', '{', '"open": 1']);
      expect(world.log.records).toContainEqual(
        expect.objectContaining({ level: 'warn', msg: 'pretty', hook: 'a.sh', hook_hook: { a: [1] } }),
      );
    });

    test('has its CPU time and memory measured', async () => {
      await using world = await World.create(backend(), {
        globalHooks: {
          'burn.sh': nodeHook(
            'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end);',
          ),
          'fill.sh': nodeHook(`Buffer.alloc(${MEMORY_BYTES}, 1)`),
          'idle.sh': shHook('onStartup: 1', 'sleep 0.3'),
        },
      });
      await world.converge();
      const userSeconds = await measured(world, 'user_cpu_seconds_sum', 'burn.sh');
      expect(userSeconds).toBeGreaterThanOrEqual(0.3);
      expect(userSeconds).toBeLessThan(1.5);
      expect(await measured(world, 'user_cpu_seconds_sum', 'idle.sh')).toBeLessThan(0.1);
      expect(await measured(world, 'sys_cpu_seconds_sum', 'fill.sh')).toBeGreaterThan(0.005);
      const filledBytes = await measured(world, 'max_rss_bytes', 'fill.sh');
      expect(filledBytes).toBeGreaterThan(MEMORY_BYTES);
      expect(filledBytes).toBeLessThan(2 * MEMORY_BYTES);
      expect(await measured(world, 'max_rss_bytes', 'idle.sh')).toBeLessThan(MEMORY_BYTES / 2);
    });

    test.each([
      ['all', {}, 'set'],
      ['allow-list', {}, 'unset'],
      ['allow-list', { 'hook-env-allow': 'PATH,NAME*,WORLD' }, 'set'],
    ])('gets the variables of the daemon that --hook-env %s %o allows', async (hookEnv, more, seen) => {
      await using world = await World.create(backend(), {
        flags: { 'hook-env': hookEnv, ...more },
        globalHooks: atStart(
          'echo "$' +
            '{NAMESPACE:+set}$' +
            '{NAMESPACE-unset} $' +
            '{PATH:+path} $' +
            '{METRICS_PATH:+files}"',
        ),
      });
      await world.converge();
      const name = seen === 'set' ? `set${world.namespace}` : 'unset';
      expect(world.log.printed).toEqual([`${name} path files`]);
    });

    test('has private files, which are removed afterwards with everything that it added', async () => {
      await using world = await World.create(backend(), {
        globalHooks: atStart(`umask 0
dir=$(dirname "$METRICS_PATH")
stat -c '%a' "$dir" "$dir"/*
i=0; while [ $i -lt 100 ]; do : > "$dir/left-$i"; i=$((i+1)); done`),
      });
      await world.converge();
      expect(world.log.printed).toEqual(['700', ...world.log.printed.slice(1).map(() => '600')]);
      expect(world.log.printed).toHaveLength(10);
      const tmp = join(world.directory, 'tmp');
      await vi.waitFor(
        async () => expect((await readdir(tmp)).filter((name) => name.startsWith('run-'))).toEqual([]),
        10_000,
      );
    });
  });
});
