import { vi } from 'vitest';
import type { ApiResponse } from './control-plane/api-probe.ts';
import { freePorts } from './control-plane/free-ports.ts';
import { type Backend, World } from './world.ts';
import type { FileTree } from './world-files.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WAIT_MS = 60_000;

export interface ConverterOptions {
  /** `v1→v2` and so on. */
  readonly steps: readonly string[];
  readonly crdName: string;
  /** JavaScript of an arrow function from `{fromVersion, toVersion, review}` to the response. */
  readonly body?: string;
}

const CONVERT = `({ toVersion, review }) => ({ convertedObjects: review.request.objects.map((object) => ({
  ...object,
  apiVersion: object.apiVersion.split('/')[0] + '/' + toVersion,
  spec: { path: [...(object.spec?.path ?? []), toVersion] },
})) })`;

/** A hook that converts; unless told otherwise it writes down in `spec.path` which versions it made. */
export function converterHook({ steps, crdName, body = CONVERT }: ConverterOptions): string {
  const conversions = steps.map((step) => {
    const [fromVersion, toVersion] = step.split('→');
    return { fromVersion, toVersion };
  });
  const config = {
    configVersion: 'v1',
    kubernetesCustomResourceConversion: [{ name: 'convert', crdName, conversions }],
  };
  return `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
if (process.argv[2] === '--config') {
  console.log(${JSON.stringify(JSON.stringify(config))});
} else {
  const contexts = readFileSync(process.env.BINDING_CONTEXT_PATH, 'utf8');
  console.log('contexts ' + contexts);
  const response = (${body})(JSON.parse(contexts)[0]);
  writeFileSync(process.env.CONVERSION_RESPONSE_PATH, JSON.stringify(response));
}
`;
}

/** A world whose conversion webhooks the API server reaches, and a kind `Box` in the versions v1 (stored), v2 and v3. */
export class ConversionLab {
  readonly world: World;
  readonly group: string;
  readonly #backend: Backend;

  private constructor(backend: Backend, world: World, group: string) {
    this.#backend = backend;
    this.world = world;
    this.group = group;
  }

  /** The daemon is not started, and there is no definition yet. */
  static async create(
    backend: Backend,
    files: (crdName: string) => { readonly globalHooks?: FileTree; readonly modules?: FileTree },
  ): Promise<ConversionLab> {
    const [port = 0] = await freePorts(1);
    const group = `g${port}.example.com`;
    const world = await World.create(backend, {
      ...files(`boxes.${group}`),
      flags: {
        'webhook-url': 'https://127.0.0.1',
        'conversion-webhook-listen-address': '127.0.0.1',
        'conversion-webhook-listen-port': String(port),
      },
    });
    return new ConversionLab(backend, world, group);
  }

  get crdName(): string {
    return `boxes.${this.group}`;
  }

  async createDefinition(): Promise<void> {
    const schema = {
      openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    };
    await this.world.expect({
      method: 'POST',
      path: CRDS,
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: this.crdName },
        spec: {
          group: this.group,
          scope: 'Namespaced',
          names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
          versions: ['v1', 'v2', 'v3'].map((name) => ({
            name,
            served: true,
            storage: name === 'v1',
            schema,
          })),
        },
      },
    });
    await vi.waitFor(async () => this.world.expect({ path: this.#path('v1') }), WAIT_MS);
  }

  /** `spec.conversion` of the definition. */
  async conversion(): Promise<unknown> {
    const crd = (await this.world.expect({ path: `${CRDS}/${this.crdName}` })) as {
      readonly spec: { readonly conversion: unknown };
    };
    return crd.spec.conversion;
  }

  /** Makes a box; while the API server takes up a changed definition it answers 503 to who is in between. */
  async createBox(name: string): Promise<void> {
    const body = { apiVersion: `${this.group}/v1`, kind: 'Box', metadata: { name }, spec: { path: ['v1'] } };
    const reply = await vi.waitFor(async () => {
      const { status } = await this.#backend.request({ method: 'POST', path: this.#path('v1'), body });
      if (status === 503) throw new Error('the definition is being taken up');
      return status;
    }, WAIT_MS);
    if (reply !== 201) throw new Error(`box ${name} was not made: ${reply}`);
  }

  box(version: string, name: string): Promise<ApiResponse> {
    return this.#backend.request({ path: `${this.#path(version)}/${name}` });
  }

  /** Reads a box until the response is as expected: the API server takes its time to use a changed definition. */
  async untilBox(version: string, name: string, check: (reply: ApiResponse) => void): Promise<void> {
    await vi.waitFor(async () => check(await this.box(version, name)), WAIT_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Its objects can only be deleted while they can be converted.
    await this.#backend.request({ method: 'DELETE', path: this.#path('v1') });
    await this.#backend.request({ method: 'DELETE', path: `${CRDS}/${this.crdName}` });
    await this.world[Symbol.asyncDispose]();
  }

  #path(version: string): string {
    return `/apis/${this.group}/${version}/namespaces/${this.world.namespace}/boxes`;
  }
}
