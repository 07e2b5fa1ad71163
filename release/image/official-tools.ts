import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { tarEntry } from '../../src/tools/pinned-tools/archive-entry.ts';

export interface WantedTools {
  /** Versions, without `v`. */
  readonly helm: string;
  readonly kubectl: string;
  /** As Node and the servers name it: `arm64`. */
  readonly arch: string;
}

/** URLs without a slash at the end. */
export interface ToolServers {
  readonly helm: string;
  readonly kubectl: string;
}

export const OFFICIAL_SERVERS: ToolServers = {
  helm: 'https://get.helm.sh',
  kubectl: 'https://dl.k8s.io/release',
};

/**
 * The official builds for a platform that has no pinned tools, compared with the sums published beside them. That proves
 * that the downloads are complete, not who made them.
 *
 * @throws Error when a server does not send something, or a sum differs
 */
export async function fetchOfficialTools(
  { helm, kubectl, arch }: WantedTools,
  servers: ToolServers,
  signal: AbortSignal,
): Promise<{ readonly helm: Buffer; readonly kubectl: Buffer }> {
  const archive = `${servers.helm}/helm-v${helm}-linux-${arch}.tar.gz`;
  const tarball = await download(archive, `${archive}.sha256sum`, signal);
  const helmProgram = tarEntry(gunzipSync(tarball), `linux-${arch}/helm`);
  if (helmProgram === undefined) throw new Error(`${archive} has no linux-${arch}/helm`);
  const program = `${servers.kubectl}/v${kubectl}/bin/linux/${arch}/kubectl`;
  return { helm: helmProgram, kubectl: await download(program, `${program}.sha256`, signal) };
}

async function download(url: string, sumUrl: string, signal: AbortSignal): Promise<Buffer> {
  const [content, sum] = await Promise.all([get(url, signal), get(sumUrl, signal)]);
  const [expected = ''] = sum.toString().trim().split(/\s+/);
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${url} has the SHA-256 ${actual}, published is ${expected}`);
  return content;
}

async function get(url: string, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`GET ${url}: HTTP ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
