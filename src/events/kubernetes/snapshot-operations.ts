/** Numbers of changes to the snapshot of a binding. */
interface OperationCounts {
  /** Objects in the snapshot now. */
  readonly count: number;
  readonly added: number;
  readonly deleted: number;
  readonly modified: number;
  /** Objects taken out because their namespace is gone or no longer selected. */
  readonly cleaned: number;
}

export interface SnapshotOperations {
  /** Since the snapshot was last read for a run of the hook. */
  readonly sinceLastExecution: OperationCounts;
  /** Since the monitor started; the objects it found then are not counted. */
  readonly sinceStart: OperationCounts;
}

type SnapshotOperation = Exclude<keyof OperationCounts, 'count'>;

type Counts = Record<SnapshotOperation, number>;

const nothing = (): Counts => ({ added: 0, deleted: 0, modified: 0, cleaned: 0 });

/** Counts the operations on one snapshot. */
export class OperationCounter {
  readonly #sinceStart = nothing();
  #sinceLastExecution = nothing();

  note(operation: SnapshotOperation, times = 1): void {
    this.#sinceStart[operation] += times;
    this.#sinceLastExecution[operation] += times;
  }

  /** The snapshot is read for a run. */
  startExecution(): void {
    this.#sinceLastExecution = nothing();
  }

  /** @param count objects in the snapshot now */
  read(count: number): SnapshotOperations {
    return {
      sinceLastExecution: { count, ...this.#sinceLastExecution },
      sinceStart: { count, ...this.#sinceStart },
    };
  }
}
