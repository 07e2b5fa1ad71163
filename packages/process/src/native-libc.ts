import { constants } from 'node:os';
import type { ChildCalls } from './adopted-children.ts';
import type { PageCalls } from './code-pages.ts';
import type { PollCalls } from './poll-loop.ts';
import type { ResourceUsage } from './process-runner.ts';

const WAIT_ANY = 0;
const WAIT_BY_PID = 1;
const WNOHANG = 1;
const WEXITED = 4;
/** Leaves the child to be reaped later: only looks whether it has exited. */
const WNOWAIT = 0x0100_0000;
const MADV_DONTNEED = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const O_CLOEXEC = 0o2_000_000;
/** The same number on all architectures but alpha. */
const SYS_PIDFD_OPEN = 434;
const SPAWN_FLAGS = 0x02 | 0x04 | 0x08; // SETPGROUP | SETSIGDEF | SETSIGMASK

/** Larger than posix_spawnattr_t (336 bytes), posix_spawn_file_actions_t (80) and sigset_t (128) of glibc and musl. */
const STRUCT_BYTES = 512;
/** Size of struct rusage on 64-bit Linux. */
const RUSAGE_BYTES = 144;

/** The errno of a failed call, as a name. */
export interface LibcFailure {
  readonly code: string;
}

export interface LibcPipe {
  readonly readFd: number;
  readonly writeFd: number;
}

export interface LibcSpawn {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** As `NAME=value`. */
  readonly env: readonly string[];
  readonly stdinFd: number;
  readonly stdoutFd: number;
  readonly stderrFd: number;
}

export interface LibcExit extends ResourceUsage {
  /** Status word as wait(2) defines it. */
  readonly status: number;
}

/** The few calls of the C library that Node does not offer. */
export interface Libc extends ChildCalls, PollCalls, PageCalls {
  /** A pipe whose ends do not leak into other children. */
  pipe(): LibcPipe | LibcFailure;
  close(fd: number): void;
  /** Bytes that were read, 0 at the end, less than 0 on failure. */
  read(fd: number, into: Buffer): number;
  /** A descriptor that is ready to be read once the child has exited; undefined where the kernel refuses that (before 5.3). */
  openProcess(pid: number): number | undefined;
  /** Pid of a new process: leader of its own group, default signal handling, nothing blocked. */
  spawn(spawn: LibcSpawn): number | LibcFailure;
  /** Whether the child has exited; leaves it to be reaped, so its pid stays taken. */
  hasExited(pid: number): boolean;
  /** Reaps an exited child. */
  reap(pid: number): LibcExit;
  killGroup(pid: number, signalNumber: number): void;
  /** Orphans among the descendants become children of this process from now on; false where the system refuses that. */
  adoptOrphans(): boolean;
}

/**
 * Binds the C library of 64-bit Linux (glibc 2.29 or musl 1.1.24 and newer). Throws where koffi or a symbol is missing.
 */
export async function loadLibc(): Promise<Libc> {
  if (process.platform !== 'linux') throw new Error(`native spawn is for Linux, this is ${process.platform}`);
  const koffi = await import('koffi');
  const library = koffi.load(null);
  type Call = (...args: readonly unknown[]) => number;
  const bind = (name: string, parameters: string): Call => library.func(`int ${name}(${parameters})`);

  const pipe2 = bind('pipe2', 'void *fds, int flags');
  const closeFd = bind('close', 'int fd');
  const kill = bind('kill', 'int pid, int signal');
  const waitid = bind('waitid', 'int type, int id, void *info, int options');
  const wait4 = bind('wait4', 'int pid, void *status, int options, void *usage');
  const poll = bind('poll', 'void *fds, ulong count, int timeout');
  const read = bind('read', 'int fd, void *buffer, ulong bytes');
  const syscall = bind('syscall', 'long number, long a, long b');
  const madvise = bind('madvise', 'uint64 address, ulong bytes, int advice');
  const prctl = bind('prctl', 'int option, ulong a, ulong b, ulong c, ulong d');
  const actionsInit = bind('posix_spawn_file_actions_init', 'void *actions');
  const actionsDestroy = bind('posix_spawn_file_actions_destroy', 'void *actions');
  const addDup2 = bind('posix_spawn_file_actions_adddup2', 'void *actions, int fd, int newFd');
  const addChdir = bind('posix_spawn_file_actions_addchdir_np', 'void *actions, const char *path');
  const posixSpawn = bind(
    'posix_spawn',
    'void *pid, const char *path, void *actions, void *attr, const char **argv, const char **envp',
  );
  const attr = spawnAttributes(bind);

  const actions = Buffer.alloc(STRUCT_BYTES);
  const pair = Buffer.alloc(8);
  const word = Buffer.alloc(4);
  const info = Buffer.alloc(128);
  const usage = Buffer.alloc(RUSAGE_BYTES);

  return {
    pipe() {
      if (pipe2(pair, O_CLOEXEC) !== 0) return { code: errnoName(koffi.errno()) };
      return { readFd: pair.readInt32LE(0), writeFd: pair.readInt32LE(4) };
    },
    close: (fd) => void closeFd(fd),
    read: (fd, into) => read(fd, into, into.length),
    poll,
    openProcess(pid) {
      const fd = syscall(SYS_PIDFD_OPEN, pid, 0);
      return fd < 0 ? undefined : fd;
    },
    spawn({ executable, args, cwd, env, stdinFd, stdoutFd, stderrFd }) {
      actionsInit(actions);
      addDup2(actions, stdinFd, 0);
      addDup2(actions, stdoutFd, 1);
      addDup2(actions, stderrFd, 2);
      addChdir(actions, cwd);
      const errno = posixSpawn(word, executable, actions, attr, [executable, ...args, null], [...env, null]);
      actionsDestroy(actions);
      return errno === 0 ? word.readInt32LE(0) : { code: errnoName(errno) };
    },
    hasExited(pid) {
      info.writeInt32LE(0, 0);
      const failed = waitid(WAIT_BY_PID, pid, info, WEXITED | WNOHANG | WNOWAIT) !== 0;
      return !failed && info.readInt32LE(0) !== 0;
    },
    reap(pid) {
      wait4(pid, word, 0, usage);
      return {
        status: word.readInt32LE(0),
        userCpuMs: timevalMs(usage, 0),
        systemCpuMs: timevalMs(usage, 16),
        maxRssBytes: Number(usage.readBigInt64LE(32)) * 1024,
      };
    },
    killGroup: (pid, signalNumber) => void kill(-pid, signalNumber),
    kill: (pid, signalNumber) => void kill(pid, signalNumber),
    hasChildren: () => waitid(WAIT_ANY, 0, info, WEXITED | WNOHANG | WNOWAIT) === 0,
    hasDeadChild: () => {
      info.writeInt32LE(0, 0);
      const failed = waitid(WAIT_ANY, 0, info, WEXITED | WNOHANG | WNOWAIT) !== 0;
      return !failed && info.readInt32LE(0) !== 0;
    },
    reapIfExited: (pid) => wait4(pid, word, WNOHANG, usage) === pid,
    returnPages: (address, bytes) => void madvise(address, bytes, MADV_DONTNEED),
    adoptOrphans: () => prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0,
  };
}

/** Attributes shared by all spawns: an own group, and none of the signals that Node ignores or blocks. */
function spawnAttributes(
  bind: (name: string, parameters: string) => (...args: readonly unknown[]) => number,
) {
  const attr = Buffer.alloc(STRUCT_BYTES);
  const signals = Buffer.alloc(STRUCT_BYTES);
  bind('posix_spawnattr_init', 'void *attr')(attr);
  bind('sigemptyset', 'void *set')(signals);
  bind('posix_spawnattr_setsigmask', 'void *attr, void *set')(attr, signals);
  bind('sigfillset', 'void *set')(signals);
  bind('posix_spawnattr_setsigdefault', 'void *attr, void *set')(attr, signals);
  bind('posix_spawnattr_setpgroup', 'void *attr, int group')(attr, 0);
  bind('posix_spawnattr_setflags', 'void *attr, short flags')(attr, SPAWN_FLAGS);
  return attr;
}

/** A struct timeval (seconds and microseconds, 64 bits each) in milliseconds. */
function timevalMs(buffer: Buffer, at: number): number {
  return Number(buffer.readBigInt64LE(at)) * 1000 + Number(buffer.readBigInt64LE(at + 8)) / 1000;
}

/** The name of an errno, as Node has it. */
function errnoName(errno: number): string {
  for (const [name, value] of Object.entries(constants.errno)) if (value === errno) return name;
  return `errno ${errno}`;
}
