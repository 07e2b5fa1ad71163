/** The page of a replica that does not lead: who leads, and the commands that open its page. */

import type { VNode } from 'preact';
import type { StandbyResponse } from '../lib/responses.ts';
import { visibleText } from '../lib/visible-text.ts';

/** The page of a replica that waits until it leads. */
export function StandbyPage({ standby }: { standby: StandbyResponse }): VNode {
  const { replica, namespace, leader } = standby;
  if (leader === replica)
    return (
      <Gate title="This replica is starting">
        <p role="status">
          <strong>{visibleText(replica)}</strong> has just become the leader. This page updates by itself.
        </p>
      </Gate>
    );
  return (
    <Gate title="This replica is a standby">
      {leader === '' ? (
        <p role="status">There is no leader at the moment. A replica becomes the leader within a minute.</p>
      ) : (
        <>
          <p role="status">
            <strong>{visibleText(leader)}</strong> is the leader. Only the leader runs hooks and modules. Open
            its page with
          </p>
          <pre class="output">
            <code>
              {`kubectl -n ${visibleText(namespace)} exec ${visibleText(leader)} -- addon-operator ui\n`}
              {`kubectl -n ${visibleText(namespace)} port-forward pod/${visibleText(leader)} 9652`}
            </code>
          </pre>
          <p>This is not an error: {visibleText(replica)} takes over when the leader ends.</p>
        </>
      )}
      <p>When this replica becomes the leader, this page shows the operator.</p>
    </Gate>
  );
}

/** A page without navigation. */
function Gate({ title, children }: { title: string; children: preact.ComponentChildren }): VNode {
  return (
    <main class="gate" id="main">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </main>
  );
}
