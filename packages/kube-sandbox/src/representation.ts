import type { Representation } from './accept.ts';
import { coreEvent, eventInVersion, isEvent } from './event-versions.ts';
import { type Fields, withoutFields } from './json-access.ts';
import { apiVersionOf, type ServedKind } from './kinds.ts';
import { type ResourceObject, withMeta } from './resource-object.ts';
import { columnsOf } from './table-columns.ts';

/** The form of responses. */
export interface View {
  readonly kind: ServedKind;
  readonly representation: Representation;
  /** The content of table rows: `Metadata` (default), `Object` or `None`. */
  readonly includeObject: string;
  readonly nowMs: number;
}

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One object in the representation that the client requested. */
export function viewObject(object: ResourceObject, view: View): Fields {
  switch (view.representation) {
    case 'object':
      return inVersion(object, view.kind);
    case 'metadata':
      return partialMetadata(object);
    case 'table':
      return table([object], { resourceVersion: object.metadata.resourceVersion ?? '' }, view, true);
  }
}

/** A list in the representation that the client requested. */
export function viewList(objects: readonly ResourceObject[], meta: ListMeta, view: View): Fields {
  const { kind } = view;
  switch (view.representation) {
    case 'object':
      return {
        kind: kind.listKind,
        apiVersion: apiVersionOf(kind),
        metadata: meta,
        items: objects.map((object) => listItem(object, kind)),
      };
    case 'metadata':
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: meta,
        items: objects.map(partialMetadata),
      };
    case 'table':
      return table(objects, meta, view, true);
  }
}

/** The object of a watch event; tables carry their columns only in the first one. */
export function viewEvent(object: ResourceObject, view: View, isFirst: boolean): Fields {
  if (view.representation !== 'table') return viewObject(object, view);
  return table([object], { resourceVersion: object.metadata.resourceVersion ?? '' }, view, isFirst);
}

/** The object of a bookmark. */
export function bookmarkObject(revision: number, view: View, isEndOfList: boolean): Fields {
  const annotations = isEndOfList ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(revision), ...annotations };
  if (view.representation === 'table')
    return {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata,
      columnDefinitions: definitions(view),
      rows: [],
    };
  if (view.representation === 'metadata')
    return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  return { kind: view.kind.kind, apiVersion: apiVersionOf(view.kind), metadata };
}

/** An object in the version of a kind: custom resources of several versions differ in their apiVersion only. */
export function inVersion(object: ResourceObject, kind: ServedKind): ResourceObject {
  const apiVersion = apiVersionOf(kind);
  if (object.apiVersion === apiVersion) return object;
  return isEvent(kind) ? eventInVersion(object, apiVersion) : { ...object, apiVersion };
}

/** Items of built-in lists do not repeat apiVersion and kind. */
function listItem(object: ResourceObject, kind: ServedKind): Fields {
  const inKind = inVersion(object, kind);
  return kind.isCustom ? inKind : withoutFields(inKind, 'apiVersion', 'kind');
}

function partialMetadata(object: ResourceObject): Fields {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: withMeta(object, {}).metadata,
  };
}

function definitions(view: View): readonly Fields[] {
  return columnsOf(view.kind).map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

function table(objects: readonly ResourceObject[], meta: ListMeta, view: View, hasColumns: boolean): Fields {
  const columns = columnsOf(view.kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: meta,
    columnDefinitions: hasColumns ? definitions(view) : null,
    rows: objects.map((object) => {
      const shown = isEvent(view.kind) ? coreEvent(object) : object;
      return { cells: columns.map(({ cell }) => cell(shown, view.nowMs)), ...rowObject(object, view) };
    }),
  };
}

function rowObject(object: ResourceObject, view: View): Fields {
  switch (view.includeObject) {
    case 'None':
      return {};
    case 'Object':
      return { object: inVersion(object, view.kind) };
    default:
      return { object: partialMetadata(object) };
  }
}
