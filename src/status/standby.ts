import { problem } from './operator-problems.ts';
import type { OperatorStatus } from './operator-status.ts';

/** A replica that waits until it leads. */
export interface Standby {
  /** Name of its pod. */
  readonly replica: string;
  readonly namespace: string;
  /** Pod of the leader: empty when no replica leads, `replica` while this one has begun to lead and still starts. */
  readonly leader: string;
}

/** A sentence that says that this replica is a standby, and which pod to use instead. */
export function standbyText({ replica, namespace, leader }: Standby): string {
  if (leader === '') return 'this replica is a standby, and no replica leads at the moment';
  if (leader === replica) return 'this replica leads, and is still starting';
  return `this replica is a standby: ${leader} leads, see kubectl -n ${namespace} exec ${leader} -- addon-operator status`;
}

/** The status of a standby: with a leader, nothing is wanting. */
export function standbyStatus(standby: Standby): OperatorStatus {
  const { replica, leader } = standby;
  const text = standbyText(standby);
  const isWell = leader !== '' && leader !== replica;
  const details = isWell ? [] : [problem('waiting', text)];
  const problems = details.map((each) => each.text);
  return { level: isWell ? 'well' : 'waiting', text, problems, details, modules: {}, tasks: 0 };
}
