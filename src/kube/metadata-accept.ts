/** The `Accept` header of a request that wants no more than the metadata of an object, or of each object in a list. */
export function metadataAccept(shape: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${shape};g=meta.k8s.io;v=v1,application/json`;
}
