import { isoTime } from '@addon-operator/concurrency/bounded-time';

/** A moment as Kubernetes writes it where fractions of seconds do not count: RFC 3339 with seconds, in UTC. */
export function kubeTime(epochMs: number): string {
  return isoTime(epochMs).replace(/\.\d+Z$/u, 'Z');
}
