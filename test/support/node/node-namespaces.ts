import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { NodeIdentity } from './kubelet-files.ts';
import type { Command } from './node-services.ts';

const NAMESPACES = ['--mount', '--net', '--pid', '--uts', '--ipc'];

/** Arguments of `unshare`: the process that it starts is the first of the namespaces, and all end with it. */
export function unshareArguments(first: string): string[] {
  return [...NAMESPACES, '--fork', '--kill-child', '--mount-proc', '--propagation', 'private', first];
}

/** Command that runs another inside of the namespaces of a process. */
export function enterCommand(pid: number, command: readonly string[]): Command {
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

/** Prepares mounts, host name and the loopback inside of new namespaces; the machine sees none of it. */
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
  ];
  await runScript(enterCommand(pid, ['sh', '-ec', script.join('\n')]));
}

/** Gives the first node its address. */
export async function prepareNetwork(pid: number, { ip }: NodeIdentity): Promise<void> {
  const script = [
    'ip link add node0 type veth peer name node0p',
    'ip link set node0p up',
    'ip link set node0 up',
    `ip addr add ${ip}/24 dev node0`,
    // The address of a Service needs a route before it is translated.
    'ip route add default dev node0',
  ];
  await runScript(enterCommand(pid, ['sh', '-ec', script.join('\n')]));
}

interface NetworkEnd {
  /** A process in the network. */
  readonly pid: number;
  readonly node: NodeIdentity;
}

/** Joins the network of a further node to that of the first by a cable, with routes to the pods of each other. */
export async function connectNetworks(first: NetworkEnd, further: NetworkEnd): Promise<void> {
  const cable = further.node.name;
  const inFirst = [
    `ip link add ${cable} type veth peer name node0 netns ${further.pid}`,
    `ip addr add ${first.node.ip}/32 dev ${cable}`,
    `ip link set ${cable} up`,
    `ip route add ${further.node.ip}/32 dev ${cable} src ${first.node.ip}`,
    `ip route add ${further.node.podRange} via ${further.node.ip} dev ${cable}`,
  ];
  const inFurther = [
    `ip addr add ${further.node.ip}/24 dev node0`,
    'ip link set node0 up',
    `ip route add ${first.node.podRange} via ${first.node.ip}`,
    'ip route add default dev node0',
  ];
  // Numbers of processes are those of the machine only outside of the namespaces of a node.
  const enterNetwork = (pid: number, script: readonly string[]): Command => [
    'nsenter',
    '--target',
    String(pid),
    '--net',
    'sh',
    '-ec',
    script.join('\n'),
  ];
  await runScript(enterNetwork(first.pid, inFirst));
  await runScript(enterNetwork(further.pid, inFurther));
}

async function runScript([file, ...args]: Command): Promise<void> {
  await execa(file, args, { stdin: 'ignore' });
}
