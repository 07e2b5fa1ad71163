/**
 * Starts the server of metrics and probes before the operator is built, and switches its content later with `show`. So the
 * kubelet gets a response during the start and on a standby too. For development, a port in use can be replaced by
 * a free one.
 */

import { componentLog, type Logger } from '@addon-operator/base/log';
import { fieldsOf } from '@addon-operator/json';
import type { Redactor } from '@addon-operator/masking/redactor';
import type { HookMetrics } from '../metrics/hook-metrics.ts';
import type { OperatorMetrics } from '../metrics/operator-metrics.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import type { OperatorStatus } from '../status/operator-status.ts';
import { startHttpServer } from './http-server.ts';

interface ProbesOptions {
  readonly settings: Pick<ServerSettings, 'listenAddress' | 'listenPort'>;
  readonly host: {
    readonly log: Logger;
    /** Called when the port is in use: a free one is taken then. Absent: that is an error. */
    readonly onPortInUse?: (port: number) => void;
  };
  readonly metrics: Pick<OperatorMetrics, 'scrape'>;
  readonly hookMetrics: Pick<HookMetrics, 'scrape'>;
  /** Masks secrets in what is said about failures. */
  readonly redactor: Redactor;
  readonly running: AsyncDisposableStack;
}

/** The server of metrics and probes. */
export interface Probes {
  readonly port: number;
  /** From now on the probes say what is in `view`. */
  show(view: ProbedView): void;
}

type ProbedView = Pick<DaemonView, 'readiness' | 'convergeStatus' | 'status'>;

/** Starts the server of metrics and probes; until {@link Probes.show} they say what is in `starting`. */
export async function startProbes(options: ProbesOptions, starting: ProbedView): Promise<Probes> {
  const { settings, host, metrics, hookMetrics, redactor, running } = options;
  let view = starting;
  const { listenAddress: address, listenPort: port } = settings;
  const log = componentLog(host, 'server');
  const server = {
    address,
    view: {
      readiness: (signal: AbortSignal) => view.readiness(signal),
      convergeStatus: () => view.convergeStatus(),
      status: () => redactedStatus(view.status(), redactor),
    },
    operatorMetrics: () => metrics.scrape(),
    hookMetrics: () => hookMetrics.scrape(),
    log,
  };
  const http = await startHttpServer({ ...server, port }).catch((error: unknown) => {
    if (host.onPortInUse === undefined || !isPortInUse(error)) throw error;
    host.onPortInUse(port);
    return startHttpServer({ ...server, port: 0 });
  });
  running.defer(() => http.stop());
  log.info({ address, port: http.port }, 'HTTP server listens');
  return {
    port: http.port,
    show: (next) => {
      view = next;
    },
  };
}

/** The server wraps the error of the system into HTTP_LISTEN, so the code is in the cause. */
function isPortInUse(error: unknown): boolean {
  return error instanceof Error && fieldsOf(error.cause)['code'] === 'EADDRINUSE';
}

/** Errors in the status may quote secrets. */
function redactedStatus(status: OperatorStatus, redactor: Redactor): OperatorStatus {
  const masked = (text: string): string => redactor.text(text);
  return {
    ...status,
    text: masked(status.text),
    problems: status.problems.map(masked),
    details: status.details.map((problem) => ({
      ...problem,
      text: masked(problem.text),
      advice: problem.advice.map(masked),
    })),
  };
}
