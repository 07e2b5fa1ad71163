import { expect, test } from 'vitest';
import { extensionDefinition, isExtensionDefinition } from './extension-definition.ts';

class Base {
  shared = new Map();
  inner: unknown = { list: [1] };
}
class PodExtensions extends Base {
  async classifyError(): Promise<string> {
    return 'ours';
  }
}

test('extensionDefinition() freezes the host with everything it reaches, and nothing of the language', () => {
  const host = new PodExtensions();
  const definition = extensionDefinition({ type: 'x', description: { a: [1] }, methods: {}, host });
  expect(isExtensionDefinition(definition)).toBe(true);
  const frozen = [
    definition,
    definition.methods,
    host,
    host.inner,
    PodExtensions.prototype,
    PodExtensions,
    Base,
  ];
  expect(frozen.every((each) => Object.isFrozen(each))).toBe(true);
  expect(Object.isFrozen((definition.description as { a: unknown }).a)).toBe(true);
  expect([Object.prototype, Function.prototype, Map.prototype].some((each) => Object.isFrozen(each))).toBe(
    false,
  );
  expect(() => {
    host.inner = 1;
  }).toThrow(TypeError);
});

test('a host may hold what cannot be frozen', async () => {
  const host = { bytes: new Uint8Array(2), module: await import('./frozen.ts') };
  extensionDefinition({ type: 'x', description: null, methods: {}, host });
  expect(Object.isFrozen(host)).toBe(true);
});

test('a host whose parts refer to one another is frozen once', () => {
  const host: { self?: unknown } = {};
  host.self = host;
  extensionDefinition({ type: 'x', description: null, methods: {}, host });
  expect(Object.isFrozen(host)).toBe(true);
});

test.each([[undefined], [null], [7], [{}], [() => 1]])('%j is no extension definition', (value) => {
  expect(isExtensionDefinition(value)).toBe(false);
});
