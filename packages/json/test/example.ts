import { canonicalJson, parseJson } from '@addon-operator/json';
import { formatPointer, valueAt } from '@addon-operator/json/pointer';

const document = parseJson('{"uid": 9007199254740993, "labels": {"example.com/tier": "front"}}');
console.log(JSON.stringify(document));
console.log(canonicalJson({ b: 1, a: { d: 2, c: 3 } }));

const pointer = formatPointer(['labels', 'example.com/tier']);
console.log(pointer, valueAt(document, pointer));
