import { expect, test } from 'vitest';
import type { KubernetesEvent } from '../../hook-config/kubernetes-binding.ts';
import type { EventHolder } from '../../hooks/event-backlog.ts';
import { EventGate } from './event-gate.ts';

const BYTES = 8;

/** Counts a few bytes for each event. */
class CountingBacklog {
  heldBytes = 0;
  holders: EventHolder[] = [];
  bytesOf = (events: readonly KubernetesEvent[]): number => events.length * BYTES;
  change = (bytes: number): void => {
    this.heldBytes += bytes;
  };
  relieved = 0;
  relieve = (): void => {
    this.relieved += 1;
  };
  hold = (holder: EventHolder): void => void this.holders.push(holder);
  release = (holder: EventHolder): void => {
    this.holders = this.holders.filter((other) => other !== holder);
  };
}

function gateWith(isReadFirst: boolean) {
  const emitted: unknown[] = [];
  const backlog = new CountingBacklog();
  const gate = new EventGate({ emit: ({ item }) => emitted.push(item.filterResult), isReadFirst, backlog });
  const held = (): unknown[] => {
    expect(backlog.heldBytes).toBe(gate.held.length * BYTES);
    return gate.held.map(({ item }) => item.filterResult);
  };
  return { gate, emitted, held, backlog };
}

const event = (state: number): KubernetesEvent => ({
  watchEvent: 'Modified',
  key: '/a',
  item: { filterResult: state },
});

test('a gate whose snapshot is read first holds nothing before that, and what is newer afterwards', () => {
  const { gate, emitted, held } = gateWith(true);
  gate.pass(event(1));
  expect(held()).toEqual([]);
  gate.drop();
  gate.pass(event(2));
  gate.pass(event(3));
  expect(held()).toEqual([2, 3]);
  gate.open();
  gate.pass(event(4));
  expect([held(), emitted]).toEqual([[], [2, 3, 4]]);
});

test('a gate that is shut again begins anew, with the missed events where no snapshot will be read', () => {
  const first = gateWith(true);
  first.gate.drop();
  first.gate.open();
  first.gate.shut([event(1)]);
  first.gate.pass(event(2));
  expect(first.held()).toEqual([]);
  first.gate.drop();
  first.gate.pass(event(3));
  first.gate.open();
  expect(first.emitted).toEqual([3]);

  const other = gateWith(false);
  other.gate.open();
  other.gate.shut([event(1)]);
  other.gate.pass(event(3));
  other.gate.shut([event(2)]);
  expect(other.held()).toEqual([2, 1, 3]);
  other.gate.open();
  expect(other.emitted).toEqual([2, 1, 3]);
});

test('a gate drops those of its held events that the backlog drops', () => {
  const { gate, emitted, held, backlog } = gateWith(false);
  const old = event(1);
  gate.pass(old);
  gate.pass(event(2));
  for (const holder of backlog.holders) holder.drop(new Set([old]));
  expect(held()).toEqual([2]);
  gate.open();
  expect(emitted).toEqual([2]);
});

test('a gate that is closed holds nothing any more, and nothing that comes later', () => {
  const { gate, emitted, held, backlog } = gateWith(false);
  gate.pass(event(1));
  gate.close();
  gate.pass(event(2));
  gate.shut([event(3)]);
  gate.open();
  expect([held(), emitted, backlog.holders]).toEqual([[], [], []]);
});

test('a gate lets the backlog relieve it of each event that it holds', () => {
  const { gate, backlog } = gateWith(false);
  gate.pass(event(1));
  gate.pass(event(2));
  expect(backlog.relieved).toBe(2);
});
