import type { ApiProbe } from '../control-plane/api-probe.ts';

interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime: string;
}

/** Whether a node has been ready since then: the store may still contain the condition from before a power cut. */
export async function isNodeReady(probe: ApiProbe, name: string, since: Date): Promise<boolean> {
  const { body } = await probe.request({ path: `/api/v1/nodes/${name}` });
  const { status } = body as {
    readonly status?: { readonly conditions?: readonly NodeCondition[] } | string;
  };
  if (typeof status !== 'object') return false;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && new Date(ready.lastHeartbeatTime) >= since;
}
