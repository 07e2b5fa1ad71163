/** The words in which the JSON schemas of the API are written. */
export type ResponseSchema = Readonly<Record<string, unknown>>;

/** A string, empty if there is nothing. */
export const string = (description: string): ResponseSchema => ({ type: 'string', description });
export const stringOrNull = (description: string): ResponseSchema => ({
  type: ['string', 'null'],
  description,
});
export const time = (description: string): ResponseSchema => ({
  type: 'string',
  format: 'date-time',
  description,
});
export const timeOrNull = (description: string): ResponseSchema => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
});
/** A whole number from 0. */
export const count = (description: string): ResponseSchema => ({ type: 'integer', minimum: 0, description });
export const number = (description: string): ResponseSchema => ({ type: 'number', minimum: 0, description });
export const flag = (description: string): ResponseSchema => ({ type: 'boolean', description });
export const oneOf = (values: readonly string[], description: string): ResponseSchema => ({
  type: 'string',
  enum: values,
  description,
});
/** A list, empty if there is nothing. */
export const list = (items: ResponseSchema, description: string): ResponseSchema => ({
  type: 'array',
  items,
  description,
});

/** All properties are required, and there are no others. */
export function object(
  properties: Readonly<Record<string, ResponseSchema>>,
  description?: string,
): ResponseSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** An object that may be null. */
export function orNull(schema: ResponseSchema, description: string): ResponseSchema {
  return { ...schema, type: ['object', 'null'], description };
}
