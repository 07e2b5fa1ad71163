import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Reads `add PID` and `drop PID` lines; at the end of its input, which comes however the writer dies, it kills the
 * process groups it was given, runs the clean-up and removes the directory.
 */
const GUARD_SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r verb pid; do
  case $verb in
    add) groups="$groups $pid" ;;
    drop)
      kept=
      for group in $groups; do [ "$group" = "$pid" ] || kept="$kept $group"; done
      groups=$kept ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
eval "$2"
rm -rf -- "$1"
`;

/** Sees to it that process groups and their directory do not outlive this process, even when it is killed. */
export class ProcessGuard {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param cleanUp shell commands that run when the processes were killed, before the directory is removed */
  static start(directory: string, cleanUp = ':'): ProcessGuard {
    const child = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'process-guard', directory, cleanUp], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin?.on('error', () => undefined);
    return new ProcessGuard(child);
  }

  add(groupId: number): void {
    this.#child.stdin?.write(`add ${groupId}\n`);
  }

  /** To be called once the group is gone: its number may be given to others. */
  drop(groupId: number): void {
    this.#child.stdin?.write(`drop ${groupId}\n`);
  }

  /** Kills what is left, removes the directory, and waits until that is done. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
  }
}
