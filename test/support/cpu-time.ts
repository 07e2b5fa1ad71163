/** CPU time of this thread, in milliseconds. Unlike a clock it does not count the time of other tests. */
export function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
