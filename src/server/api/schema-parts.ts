/** The words in which the JSON schemas of the API are written. */
export type ResponseSchema = Readonly<Record<string, unknown>>;

export const text = (description: string): ResponseSchema => ({ type: 'string', description });
export const textOrNull = (description: string): ResponseSchema => ({
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
export const count = (description: string): ResponseSchema => ({ type: 'integer', minimum: 0, description });
export const number = (description: string): ResponseSchema => ({ type: 'number', minimum: 0, description });
export const flag = (description: string): ResponseSchema => ({ type: 'boolean', description });
export const oneOf = (values: readonly string[], description: string): ResponseSchema => ({
  type: 'string',
  enum: values,
  description,
});
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

export function orNull(schema: ResponseSchema, description: string): ResponseSchema {
  return { ...schema, type: ['object', 'null'], description };
}
