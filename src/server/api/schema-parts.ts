/** The words in which the JSON schemas of the API are written. */
export type Schema = Readonly<Record<string, unknown>>;

/** A string, empty if there is nothing. */
export const string = (description: string): Schema => ({ type: 'string', description });
export const stringOrNull = (description: string): Schema => ({ type: ['string', 'null'], description });
/** RFC 3339 in UTC. */
export const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
export const timeOrNull = (description: string): Schema => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
});
/** A whole number from 0. */
export const count = (description: string): Schema => ({ type: 'integer', minimum: 0, description });
/** A number from 0, such as milliseconds. */
export const number = (description: string): Schema => ({ type: 'number', minimum: 0, description });
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const oneOf = (values: readonly string[], description: string): Schema => ({
  type: 'string',
  enum: values,
  description,
});
/** A list, empty if there is nothing. */
export const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/** All properties are required, and there are no others. */
export function object(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** An object that may be null. */
export function orNull(schema: Schema, description: string): Schema {
  return { ...schema, type: ['object', 'null'], description };
}
