import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { NODE_IP } from './node-files.ts';

const NAMESPACES = ['--mount', '--net', '--pid', '--uts', '--ipc'];

/** Arguments of `unshare`: the process that it starts is the first of the namespaces, and all end with it. */
export function unshareArguments(first: string): string[] {
  return [...NAMESPACES, '--fork', '--kill-child', '--mount-proc', '--propagation', 'private', first];
}

/** Command that runs another inside of the namespaces of a process. */
export function enterCommand(pid: number, command: readonly string[]): [file: string, ...args: string[]] {
  return ['nsenter', '--target', String(pid), ...NAMESPACES, '--', ...command];
}

/** The process that `unshare` started, once there is one. */
export async function firstProcess(unsharePid: number): Promise<number | undefined> {
  const path = `/proc/${unsharePid}/task/${unsharePid}/children`;
  const pid = Number.parseInt(await readFile(path, 'utf8'), 10);
  return Number.isNaN(pid) ? undefined : pid;
}

/** The kubelet writes these for the whole machine. It finds the values that it wants, and writes nothing. */
const KERNEL_SETTINGS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** Prepares mounts, host name and network inside of new namespaces; the machine sees none of it. */
export async function prepareNamespaces(pid: number, hostName: string, directory: string): Promise<void> {
  const settings = Object.entries(KERNEL_SETTINGS).map(([name, value]) => {
    const file = `/run/kernel/${name.replaceAll('/', '.')}`;
    return `echo ${value} > ${file} && mount --bind ${file} /proc/sys/${name}`;
  });
  const script = [
    'mount --make-rshared /',
    'mount -t tmpfs tmpfs /run',
    'mount -t tmpfs tmpfs /var/lib',
    'mkdir -p /run/netns /run/lock /run/cni /run/kernel /var/lib/kubelet',
    `mount --bind ${join(directory, 'kubelet')} /var/lib/kubelet`,
    `mount --bind ${join(directory, 'log')} /var/log`,
    ...settings,
    `hostname ${hostName}`,
    'ip link set lo up',
    'ip link add node0 type veth peer name node0p',
    'ip link set node0p up',
    'ip link set node0 up',
    `ip addr add ${NODE_IP}/24 dev node0`,
    // The address of a Service needs a route before it is translated.
    'ip route add default dev node0',
  ];
  const [file, ...args] = enterCommand(pid, ['sh', '-ec', script.join('\n')]);
  await execa(file, args, { stdin: 'ignore' });
}
