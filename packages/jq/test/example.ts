import { Engine, JqError, JqSyntaxError, LimitError, parseValue, toJson } from '@addon-operator/jq';

const engine = new Engine(() => Date.now());
const names = engine.compile('.items[] | select(.replicas > 1) | .name');
const input = parseValue('{"items": [{"name": "web", "replicas": 2}, {"name": "job", "replicas": 1}]}');
for (const output of names(input)) console.log(toJson(output));

// Integers keep every digit.
console.log([...engine.compile('.uid')(parseValue('{"uid": 9007199254740993}'))].map(toJson).join());

for (const program of ['.a |', '.a.b', '[range(1e9)]']) {
  try {
    console.log([...engine.compile(program)({ a: 'text' })]);
  } catch (error) {
    if (error instanceof JqSyntaxError) console.log('no jq program:', error.message);
    else if (error instanceof JqError) console.log('the program failed:', toJson(error.value));
    else if (error instanceof LimitError) console.log('stopped:', error.message);
  }
}
