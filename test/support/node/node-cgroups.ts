import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPresent } from '../control-plane/go-programs.ts';

const ROOT = '/sys/fs/cgroup';
const CONTROLLERS = [
  'cpu',
  'cpuacct',
  'cpuset',
  'memory',
  'devices',
  'freezer',
  'blkio',
  'pids',
  'systemd',
  'unified',
];

/** Makes the groups below which the kubelet puts all pods. */
export async function createCgroups(name: string): Promise<void> {
  for (const controller of CONTROLLERS) {
    const parent = join(ROOT, controller);
    if (!(await isPresent(parent))) continue;
    await mkdir(join(parent, name), { recursive: true });
    if (controller !== 'cpuset') continue;
    // A new group has no processors and no memory, and takes no process before it has.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      await writeFile(join(parent, name, file), await readFile(join(parent, file)));
    }
  }
}

/** Shell commands that remove the groups as soon as the last process in them is gone, and wait for that up to 20 s. */
export function removeCgroupsScript(name: string): string {
  return `
attempts=200
while [ $attempts -gt 0 ] && ls -d ${ROOT}/*/${name} >/dev/null 2>&1; do
  for group in ${ROOT}/*/${name}; do find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; done
  attempts=$((attempts - 1))
  ls -d ${ROOT}/*/${name} >/dev/null 2>&1 && sleep 0.1
done
true
`;
}
