import { expect, test } from 'vitest';
import { Field } from './field.ts';

const object = { spec: { ports: [{ name: 'a' }, {}], count: -1, mode: 'c' } };

function causesOf(report: (spec: Field) => void): readonly string[] {
  const field = new Field(object);
  report(field.at('spec'));
  return field.causes.map((cause) => `${cause.reason} ${cause.field}: ${cause.message}`);
}

test('all fields of an object report to one list, in order, with their paths', () => {
  const causes = causesOf((spec) => {
    for (const port of spec.at('ports').items) port.at('name').require();
    spec.at('count').nonNegative();
    spec.at('a', 'b').forbidden('not now');
  });
  expect(causes).toEqual([
    'FieldValueRequired spec.ports[1].name: Required value',
    'FieldValueInvalid spec.count: Invalid value: -1: must be greater than or equal to 0',
    'FieldValueForbidden spec.a.b: Forbidden: not now',
  ]);
});

test('a value out of a set is required or not', () => {
  const unsupported = 'FieldValueNotSupported spec.mode: Unsupported value: "c": supported values: "a", "b"';
  expect(causesOf((spec) => spec.at('mode').oneOf(['a', 'b']))).toEqual([unsupported]);
  expect(causesOf((spec) => spec.at('mode').oneOfIfSet(['a', 'b']))).toEqual([unsupported]);
  expect(causesOf((spec) => spec.at('none').oneOf(['a']))).toEqual([
    'FieldValueRequired spec.none: Required value',
  ]);
  expect(causesOf((spec) => spec.at('none').oneOfIfSet(['a']))).toEqual([]);
});

test('a Go struct is shown with its fields in order, other objects with theirs sorted', () => {
  const causes = causesOf((spec) => {
    spec.at('x').invalid(
      'no',
      new Map([
        ['Type', 'a'],
        ['Kind', undefined],
      ]),
    );
    spec.at('x').invalid('no', { b: 1, a: 2 });
    spec.at('x').invalid('no');
  });
  expect(causes.map((cause) => cause.slice('FieldValueInvalid spec.x: Invalid value: '.length))).toEqual([
    '{"Type":"a","Kind":null}: no',
    '{"a":2,"b":1}: no',
    'null: no',
  ]);
});
